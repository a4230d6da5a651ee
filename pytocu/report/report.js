"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const CHUNK = 200, ROW = 19;
  const TEXT = 0, INSTS = 1, KERNEL = 2, LINE = 3;
  const key = span => span[0] + ":" + span[1];

  // Places of the source, and the line of Python that each belongs to.
  const lineOf = data.places.map(chain => (chain.length ? key(chain[0]) : ""));
  const placesOfLine = new Map();
  data.places.forEach((chain, place) => {
    for (const span of chain) {
      if (!placesOfLine.has(key(span))) placesOfLine.set(key(span), new Set());
      placesOfLine.get(key(span)).add(place);
    }
  });

  // Python's lines have the same form as all others.
  const last = data.stages[data.stages.length - 1].rows;
  const kernelOfPlace = new Map();
  for (const row of last) for (const inst of row[INSTS]) {
    if (row[KERNEL] >= 0 && !kernelOfPlace.has(data.of[inst])) kernelOfPlace.set(data.of[inst], row[KERNEL]);
  }
  const python = [];
  let file = -1;
  for (const [number, line, text] of data.python) {
    if (number !== file && data.files.length > 1) python.push({text: data.files[number], kind: "file", insts: [], places: [], kernel: -1, line: -1, number: ""});
    file = number;
    if (text === null) { python.push({text: "⋯", kind: "gap", insts: [], places: [], kernel: -1, line: -1, number: ""}); continue; }
    const places = [...(placesOfLine.get(number + ":" + line) || [])];
    const own = places.filter(place => lineOf[place] === number + ":" + line);
    const kernel = own.map(place => kernelOfPlace.get(place)).find(k => k !== undefined);
    python.push({text, kind: "", insts: [], places, kernel: kernel === undefined ? -1 : kernel, line: -1, number: line, key: number + ":" + line});
  }
  const plain = rows => rows.map((row, n) => ({text: row[TEXT], kind: "", insts: row[INSTS], places: [...new Set(row[INSTS].map(inst => data.of[inst]))], kernel: row[KERNEL], line: row[LINE], number: n + 1}));

  const escape = text => text.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
  const WORDS = {
    python: /(#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(def|return|if|else|elif|for|in|while|lambda|import|from|as|and|or|not|is|None|True|False|with|class)\b()()/g,
    ir: /(\s#\s.*)|("(?:[^"\\]|\\.)*")|\b(func|host|loop|facts|for|if|while|return|yield|kernel|launch)\b|(%\w+)|(\b(?:weak (?:bool|int|float|complex)|[fiu]\d+|c64|c128|bool|index|ptr)\b)/g,
    cuda: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(#pragma \w+|\b(?:extern|const|for|if|else|while|return|struct|static|__\w+)\b)|()|(\b(?:void|float|double|bool|char|short|int|long|unsigned|[fiu]\d+x\d+)\b)/g,
    llvm: /(;.*)|("(?:[^"\\]|\\.)*")|\b(define|declare|br|ret|phi|load|store|call|select|switch|label|to|getelementptr|alloca)\b|([%@][\w.$]+)|\b(i\d+|half|float|double|ptr|void|x)\b/g,
    asm: /(#.*|\/\/.*|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*")|(^\s+[a-z@!][\w.]*|^[\w.$"]+:)|(%\w+|\bU?R\d+\b|\bU?P\d\b)|(\$?-?\b0x[\da-f]+\b)/g,
    ptx: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(^\s*(?:@!?%p\d+\s+)?[a-z][\w.]*)|(%\w+(?:\.\w+)?)|(\.(?:[bfsu]\d+|pred)\b)/g,
  };
  const CLASSES = ["", "c", "s", "w", "v", "t"];
  const paint = (text, language) => {
    let made = "", at = 0;
    for (const found of text.matchAll(WORDS[language])) {
      const group = found.findIndex((part, n) => n > 0 && part);
      if (group < 0) continue;
      made += escape(text.slice(at, found.index)) + `<span class="${CLASSES[group]}">${escape(found[0])}</span>`;
      at = found.index + found[0].length;
    }
    return made + escape(text.slice(at));
  };

  class Pane {
    constructor(name) {
      this.name = name;
      this.language = name;
      this.box = document.querySelector(`[data-pane="${name}"] .rows`);
      this.marked = [];
      this.cursor = -1;
      this.box.addEventListener("pointerover", event => { if (!chosen) light(this, this.at(event)); });
      this.box.addEventListener("pointerleave", () => { if (!chosen) clear(); });
      this.box.addEventListener("click", event => { const row = this.at(event); if (row >= 0) choose(this, row); });
      this.box.addEventListener("keydown", event => this.keys(event));
    }
    at(event) {
      const row = event.target.closest(".row");
      return row ? Number(row.dataset.row) : -1;
    }
    show(rows, before) {
      this.rows = rows;
      this.marked = [];
      this.cursor = -1;
      this.box.removeAttribute("aria-activedescendant");
      const known = before ? new Set(before.map(row => row.text)) : null;
      const chunks = [];
      for (let start = 0; start < rows.length; start += CHUNK) {
        const part = rows.slice(start, start + CHUNK);
        const lines = part.map((row, n) => this.line(row, start + n, known));
        chunks.push(`<div class="chunk" role="presentation" style="contain-intrinsic-size:auto ${part.length * ROW}px">${lines.join("")}</div>`);
      }
      this.box.innerHTML = chunks.join("");
      this.elements = this.box.querySelectorAll(".row");
      this.byInst = new Map();
      this.byPlace = new Map();
      this.byLine = new Map();
      this.byCode = new Map();
      this.byKernel = new Map();
      const add = (map, name, n) => { if (!map.has(name)) map.set(name, []); map.get(name).push(n); };
      rows.forEach((row, n) => {
        for (const inst of row.insts) add(this.byInst, inst, n);
        for (const place of row.places) add(this.byPlace, place, n);
        for (const line of new Set(row.places.map(place => lineOf[place]))) add(this.byLine, line, n);
        if (row.line >= 0) add(this.byCode, row.line, n);
        if (row.kernel >= 0) add(this.byKernel, row.kernel, n);
      });
    }
    line(row, n, known) {
      const kernel = row.kernel >= 0 ? ` k${row.kernel % 8}` : "";
      const fresh = known && row.kind === "" && row.text.trim().length > 1 && !known.has(row.text) ? " new" : "";
      const text = row.kind ? escape(row.text) : paint(row.text, this.language);
      return `<div class="row${kernel}${fresh}" role="option" aria-selected="false" id="${this.name}-${n}" data-row="${n}">`
        + `<span class="number">${row.number}</span><code class="${row.kind}">${text}</code></div>`;
    }
    unmark() {
      for (const n of this.marked) {
        this.elements[n].classList.remove("lit", "near", "cursor");
        this.elements[n].setAttribute("aria-selected", "false");
        if (this.elements[n].querySelector("mark")) this.elements[n].lastChild.innerHTML = paint(this.rows[n].text, this.language);
      }
      this.marked = [];
    }
    mark(lit, near) {
      for (const n of near) if (!lit.has(n)) this.elements[n].classList.add("near");
      for (const n of lit) { this.elements[n].classList.add("lit"); this.elements[n].setAttribute("aria-selected", "true"); }
      this.marked = [...new Set([...lit, ...near])];
      this.lit = [...lit].sort((a, b) => a - b);
    }
    reveal(n, always) {
      const top = n * ROW, box = this.box;
      if (always || top < box.scrollTop || top > box.scrollTop + box.clientHeight - 2 * ROW) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    }
    visible(n) {
      return n * ROW >= this.box.scrollTop && n * ROW <= this.box.scrollTop + this.box.clientHeight - ROW;
    }
    keys(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 2), end = this.rows.length - 1, at = this.cursor;
      const moves = {ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: end};
      let to = moves[event.key];
      if (event.key === "n") to = (this.lit || []).find(n => n > at);
      if (event.key === "N") to = (this.lit || []).filter(n => n < at).pop();
      if (event.key === "n" || event.key === "N") { event.preventDefault(); if (to !== undefined) this.move(to); return; }
      if (to === undefined) return;
      event.preventDefault();
      choose(this, Math.min(Math.max(to, 0), end));
    }
    // The cursor goes to another line that is lit already, so what is lit stays.
    move(n) {
      if (this.cursor >= 0) this.elements[this.cursor].classList.remove("cursor");
      this.cursor = n;
      this.elements[n].classList.add("cursor");
      this.box.setAttribute("aria-activedescendant", this.elements[n].id);
      this.reveal(n);
    }
  }

  const panes = Object.fromEntries(["python", "ir", "code", "assembly"].map(name => [name, new Pane(name)]));
  const all = Object.values(panes);
  const status = document.getElementById("status");
  let chosen = null;

  const clear = () => {
    for (const pane of all) { pane.unmark(); pane.lit = []; }
    for (const node of document.querySelectorAll(".kernel.chosen")) node.classList.remove("chosen");
    status.textContent = "";
  };

  const gather = (map, names) => new Set([...names].flatMap(name => map.get(name) || []));

  // What belongs to a line.  The same instructions where a view has them, else what has the same place in the source;
  // behind that, faintly, what has the same place or line.
  const light = (pane, n) => {
    clear();
    if (n < 0) return;
    const row = pane.rows[n];
    const places = new Set(row.places);
    const lines = new Set([...places].map(place => lineOf[place]));
    const shown = new Set([...places].flatMap(place => data.places[place].map(key)));
    if (row.key) shown.add(row.key);
    const same = other => {
      const insts = gather(other.byInst, row.insts);
      return insts.size ? insts : gather(other.byPlace, places);
    };
    const statements = pane.name === "code" ? new Set([n]) : pane.name === "assembly" ? new Set(row.line < 0 ? [] : [row.line]) : same(panes.code);
    const lit = {
      python: new Set(panes.python.rows.flatMap((line, number) => (line.key && shown.has(line.key) ? [number] : []))),
      ir: same(panes.ir),
      code: statements,
      assembly: gather(panes.assembly.byCode, statements),
    };
    lit[pane.name].add(n);
    for (const other of all) {
      const near = other.name === "python" ? [] : [...gather(other.byPlace, places), ...gather(other.byLine, lines)];
      other.mark(lit[other.name], new Set(near));
    }
    if (pane.name !== "python") underline(places);
    const count = name => panes[name].lit.length;
    status.textContent = `Python ${count("python")} · IR ${count("ir")} · ${form.name} ${count("code")} · ${form.made} ${count("assembly")} lines`;
  };

  // The expressions themselves, in the lines of Python that are lit.
  const underline = places => {
    for (const n of panes.python.lit) {
      const row = panes.python.rows[n];
      const spans = [...places].flatMap(place => data.places[place]).filter(span => key(span) === row.key && span[3] > span[2]);
      if (!spans.length) continue;
      const inside = new Array(row.text.length).fill(false);
      for (const span of spans) inside.fill(true, span[2] - 1, span[3] - 1);
      let made = "", open = false;
      [...row.text].forEach((char, at) => {
        if (inside[at] !== open) made += inside[at] ? "<mark>" : "</mark>";
        open = inside[at];
        made += escape(char);
      });
      panes.python.elements[n].lastChild.innerHTML = made + (open ? "</mark>" : "");
    }
  };

  // Scroll to where most of what is lit fits on the screen.
  const reveal = from => {
    for (const pane of all) {
      if (pane === from || !pane.lit.length) continue;
      const page = Math.max(1, Math.floor((pane.box.clientHeight * 2) / 3 / ROW));
      let best = 0, most = 0, end = 0;
      pane.lit.forEach((first, start) => {
        while (end < pane.lit.length && pane.lit[end] < first + page) end++;
        if (end - start > most) { most = end - start; best = first; }
      });
      const shown = pane.lit.filter(n => pane.visible(n)).length;
      if (shown < most) pane.reveal(best, true);
    }
  };

  const choose = (pane, n) => {
    for (const other of all) if (other !== pane) other.cursor = -1;
    chosen = {pane, n};
    light(pane, n);
    pane.cursor = n;
    pane.elements[n].classList.add("cursor");
    pane.box.setAttribute("aria-activedescendant", pane.elements[n].id);
    pane.reveal(n);
    reveal(pane);
  };

  const chooseKernel = node => {
    clear();
    chosen = {kernel: Number(node.dataset.kernel)};
    node.classList.add("chosen");
    for (const pane of all) pane.mark(new Set(pane.byKernel.get(chosen.kernel) || []), new Set());
    reveal(null);
    const count = name => panes[name].lit.length;
    status.textContent = `kernel ${node.querySelector(".title").textContent}: IR ${count("ir")} · ${form.name} ${count("code")} · ${form.made} ${count("assembly")} lines`;
  };

  // What is chosen elsewhere lights up in views that have a new text, too.
  const again = changed => {
    if (!chosen) return;
    if (chosen.kernel !== undefined) chooseKernel(document.querySelector(`[data-kernel="${chosen.kernel}"]`));
    else if (changed.includes(chosen.pane)) { chosen = null; clear(); }
    else { light(chosen.pane, chosen.n); chosen.pane.elements[chosen.n].classList.add("cursor"); reveal(chosen.pane); }
  };

  // Stages.
  const select = document.getElementById("stage");
  const shown = data.stages.map(stage => plain(stage.rows));
  select.innerHTML = data.stages.map((stage, n) => `<option value="${n}">${escape(stage.name)}</option>`).join("");
  const show = n => {
    const stage = Math.min(Math.max(n, 0), data.stages.length - 1);
    select.value = stage;
    document.getElementById("doc").textContent = data.stages[stage].doc;
    document.getElementById("earlier").disabled = stage === 0;
    document.getElementById("later").disabled = stage === data.stages.length - 1;
    panes.ir.show(shown[stage], stage ? shown[stage - 1] : null);
    again([panes.ir]);
  };
  select.addEventListener("change", () => show(Number(select.value)));
  document.getElementById("earlier").addEventListener("click", () => show(Number(select.value) - 1));
  document.getElementById("later").addEventListener("click", () => show(Number(select.value) + 1));

  // Backends.
  const backend = document.getElementById("backend");
  const none = "No kernel: the plan has only views and values of the host.";
  const forms = data.forms.length ? data.forms : [{name: "Code", language: "cuda", rows: [], made: "Assembly", madeLanguage: "asm", assembly: [], missing: none}];
  let form = forms[0];
  backend.innerHTML = forms.map((one, n) => `<option value="${n}">${escape(one.name)}</option>`).join("");
  backend.disabled = forms.length < 2;
  const showForm = n => {
    form = forms[n];
    backend.value = n;
    document.getElementById("made").textContent = form.made;
    panes.code.box.setAttribute("aria-label", form.name);
    panes.assembly.box.setAttribute("aria-label", form.made);
    panes.code.language = form.language;
    panes.assembly.language = form.madeLanguage;
    panes.code.show(plain(form.rows), null);
    panes.assembly.show(plain(form.assembly), null);
    if (form.missing) panes.assembly.box.innerHTML = `<p class="note">${escape(form.missing)}</p>`;
    again([panes.code, panes.assembly]);
  };
  backend.addEventListener("change", () => showForm(Number(backend.value)));

  for (const node of document.querySelectorAll("[data-kernel]")) {
    node.addEventListener("click", () => chooseKernel(node));
    node.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chooseKernel(node); } });
  }

  // Light and dark.
  const theme = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };
  document.getElementById("theme-button").addEventListener("click", theme);
  const help = document.getElementById("help");
  document.getElementById("help-button").addEventListener("click", () => help.showModal());

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.tagName === "SELECT") return;
    switch (event.key) {
      case "Escape": chosen = null; clear(); for (const pane of all) pane.cursor = -1; break;
      case "[": show(Number(select.value) - 1); break;
      case "]": show(Number(select.value) + 1); break;
      case "?": help.showModal(); break;
      case "t": theme(); break;
      case "b": showForm((forms.indexOf(form) + 1) % forms.length); break;
      case "1": case "2": case "3": case "4": all[Number(event.key) - 1].box.focus(); break;
      default: return;
    }
    event.preventDefault();
  });

  panes.python.show(python, null);
  showForm(0);
  show(data.stages.length - 1);
})();

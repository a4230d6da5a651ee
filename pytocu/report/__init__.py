"""One page of HTML that shows a function in every form, from Python to PTX, with what belongs together linked."""

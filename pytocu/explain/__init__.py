"""What the compiler made of a function, and why, as data; and the texts made of the data."""

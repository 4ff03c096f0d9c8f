"""Language models: what they say a text is worth, and what they make of the words in it."""

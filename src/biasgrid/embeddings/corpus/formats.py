"""How the words of a text are told apart, by name."""

FORMATS = {
    "text": "plain text, whose words are letters and digits, without punctuation",
    "tokens": "tokenised text, with white space between words",
    "commas": "tokenised text, with commas or white space between words",
    "tagged": "word/tag between white space, as in the Brown corpus",
}
DEFAULT = "text"

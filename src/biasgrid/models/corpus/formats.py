"""Names of the formats of a text, which determine how it is split into words."""

FORMATS = {
    "text": "plain text, whose words are letters and digits, without punctuation",
    "tokens": "tokenised text, with white space between words",
    "commas": "tokenised text, with commas or white space between words",
    "tagged": "word/tag between white space, as in the Brown corpus",
}
DEFAULT = "text"

"""How the words of a text are told apart, by name."""

FORMATS = {
    "text": "plain text: words are letters and digits; punctuation is left out",
    "tokens": "text that is tokenised: words are whatever stands between white space",
    "commas": "text that is tokenised: words are whatever stands between commas or white space",
    "tagged": "word/tag between white space, as in the Brown corpus: a word is what stands before the last slash",
}
DEFAULT = "text"

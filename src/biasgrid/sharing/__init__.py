"""Results that leave the machine: a folder to deposit, and several such folders in one ranking."""

"""What serves Maddalozzo's thesis (Politecnico di Torino 2023): metrics of pairs, tables, figures, and GLPP."""

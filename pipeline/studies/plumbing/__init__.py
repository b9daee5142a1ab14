"""How studies are declared, priced and run: nothing here decides a number."""

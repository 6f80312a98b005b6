"""One test for each rule of annotations, their values and their queries, through HTTP; `docs/rules.md` lists them."""

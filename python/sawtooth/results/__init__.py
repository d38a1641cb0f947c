"""What a results directory is made of: files written whole, lists of their checksums, a lock, a log. `dataset` puts them together."""

"""Results directories under attack: processes killed at random moments, single bits flipped, everything else that damages files."""

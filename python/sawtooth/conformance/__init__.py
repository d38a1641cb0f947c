"""Scripts of packets: what an endpoint should send, held against what it does.

The language is packetdrill's (Cardwell et al., USENIX ATC 2013), by its published description; packetdrill itself is not used.
"""

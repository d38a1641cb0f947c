"""One run as an animation: packets on links over time, as `sawtooth animate` draws it.

`network` lays out nodes and links, `film` takes the packets of a stretch of time, `still` draws a moment of it, `page` and `drawing` make files of both.
"""

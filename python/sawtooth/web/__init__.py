"""`sawtooth serve`: the explorer, a local web application on studies, running sweeps and results.

It answers with what measures, figures and findings come to, over the same functions as the report: nothing is computed twice, and nothing statistical in
the browser. The pages are built from `web/`, and come along as `static/`.
"""

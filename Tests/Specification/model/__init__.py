"""Reference model of a paging cache: the rules of Docs/rules.md as a program.

It favours clarity over speed.  A feed is one flat list of rows: entry ids (str) and Gap objects.
Python 3.11, no dependencies.
"""
from .cache import Cache
from .feed import Feed
from .objects import (CONFIRM_END, ECHO_PAGES, END, HEAD, HELP_TO_PLAN, MORE, TOP, UNKNOWN, WORDS, Answer, Edge, Entry, Gap, Outcome,
                      Page, Refused, Search, Ticket)
from .recorded import Crawl

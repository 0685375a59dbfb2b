"""What growth.py shows: each operation with its title and, in plain English, what bounds its cost."""

from typing import NamedTuple

MARKS = ("<!-- written by make bench-growth -->", "<!-- end of what make bench-growth writes -->")

# An exponent that is above this as printed, with two digits, is in bold: the cost follows the size.
STEEP = 0.2


class Operation(NamedTuple):
    name: str
    title: str
    bound: str
    unit: str = "posts"
    metric: str = "p50"
    heading: str = ""


BY_ENGINES = [
    Operation("bulk", "bulk load, a post", "each location moves to a larger run of the id index log n times",
              metric="rate"),
    Operation("commit", "page committed",
              "the posts of the page; a copy of each LMDB page up to the root, log n"),
    Operation("refresh-long", "refresh of the longest feed",
              "the posts of the page; a copy of each LMDB page up to the root, log n; only the feed's top is loaded"),
    Operation("update", "post updated", "a copy of each LMDB page from four records to the root, log n"),
    Operation("prune-long", "pruned, a page", "the pages that leave, not those that stay", metric="page"),
    Operation("read", "page read", "the bytes of the page; three searches in a tree, log n, that miss caches"),
    Operation("scroll", "50 pages scrolled", "the bytes of the pages"),
    Operation("contains", "100 ids checked", "the runs of the id index, log n; a filter answers for most"),
    Operation("post", "post by id", "the same runs, one chunk, one body"),
    Operation("open-warm", "open and first page", "a fixed number of records", metric="first"),
    Operation("open-pruned", "the same after a great prune",
              "a fixed number of records: the free list is not read",
              metric="first"),
]

BY_POSTS = [
    Operation("page-by-index", "page by index", "the runs of the page index, log n; one chunk"),
    Operation("row-by-rank", "row by rank", "the runs of the page index, log n; one chunk"),
    Operation("window-opened", "window opened, 20 rows with bodies",
              "the runs of the page index, log n; the rows"),
    Operation("view-opened", "first 20 rows of a view, with bodies", "the chunks that have them, log n each"),
    Operation("view-by-rank", "20 rows of a view by rank", "the page index of the view, log n, and the rows"),
    Operation("view-by-keys", "first 20 rows of a view by keys", "one chunk for each row, log n"),
    Operation("merged-opened", "first 20 rows of 8 feeds as one", "the rows; 8 searches, log n"),
    Operation("rank-of-post", "rank of a post", "the id index, then the page index: log n each"),
    Operation("rank-of-key", "row by key", "a bisection: log n chunks, each found in log n"),
    Operation("page-committed", "page at the tail", "the page; copies of LMDB pages, log n"),
    Operation("page-unviewed", "page at the tail, no views", "the page; copies of LMDB pages, log n"),
    Operation("page-viewed", "the same, with two views", "the page; the views' records of it, log n"),
    Operation("page-no-budget", "page at the tail, no budget", "the page; copies of LMDB pages, log n"),
    Operation("page-full-budget", "the same, as large as its budget", "the page, and one that leaves"),
    Operation("page-filled", "evicted page fetched again", "the page and the chunks next to its gap"),
    Operation("local-added", "local post added", "the top chunk"),
    Operation("post-deleted", "post deleted", "its chunk and the chunks next to it"),
    Operation("post-evicted", "post evicted",
              "its chunk and those next to it; the page index counts what is below, down to the next gap"),
    Operation("page-evicted", "page evicted",
              "its chunk and those next to it; the page index counts what is below, down to the next gap"),
    Operation("contradiction-around", "page around a post, wrong order", "the chunks of the posts it names"),
    Operation("contradiction-far", "page around a post, one from afar",
              "the chunks of the posts it names, and those of the post from afar"),
    Operation("contradiction-tail", "contradiction at the tail",
              "the chunks of the posts it names, also of one far above"),
    Operation("rise", "refresh, ten posts rise",
              "the page and the chunks of the ten posts"),
    Operation("page-pruned", "page pruned", "the pages that leave, 10,000 posts in a commit"),
    Operation("page-committed-pruned", "page at the tail after the prune",
              "the page; copies of LMDB pages, log n: the free list adds nothing"),
]

LOCALS = "By the number of local posts in one feed"
GAPS = "By the number of gaps in one feed"
BATCH = "By the number of operations that one batch makes on one feed; the figures are for one of them"

BY_DEPTH = [
    Operation("local-added", "local post added",
              "the top chunk; chunks of local posts are passed over: only their heads are read",
              "local posts", heading=LOCALS),
    Operation("local-removed", "local post removed",
              "its chunk; the heads of the chunks of local posts", "local posts"),
    Operation("refresh", "refresh",
              "the page; the heads of the chunks of local posts, several times", "local posts"),
    Operation("page-committed", "page at the tail",
              "the page; the heads of the chunks of local posts", "local posts"),
    Operation("refresh", "refresh that opens a gap", "the page and the topmost gap", "gaps", heading=GAPS),
    Operation("page-top-gap", "page into a top gap", "the page, this gap and its neighbours", "gaps"),
    Operation("page-low-gap", "page into a low gap", "the page, this gap and its neighbours", "gaps"),
    Operation("page-committed", "page at the tail", "the page and the lowest gap", "gaps"),
    Operation("post-deleted", "post deleted", "its chunk and the gaps next to it", "gaps"),
    Operation("post-evicted", "post evicted", "its chunk and the gaps next to it", "gaps"),
    Operation("page-committed", "page at the tail",
              "the page; merges of the batch's own id index, log n", "in a batch",
              heading=BATCH),
    Operation("refresh", "refresh that opens a gap",
              "the page and the gaps that the batch has in memory, at most 64: with more, the feed is loaded anew",
              "in a batch"),
    Operation("local-added", "local post added",
              "the chunks that the batch has in memory, which become longer with each local post", "in a batch"),
]

/*
 * quire.h - Quire, an embedded cache for paged feeds. This file is the manual of the C API.
 *
 * A server hands out a list page by page: a timeline, a set of search results, the questions of a forum.
 * Quire keeps what arrived in one file, in the server's order, each post once, and knows where something
 * may be missing. The program does the network. Quire plans the requests and judges the answers.
 *
 *     quire_cache *cache = NULL;
 *     quire_feed *feed = NULL;
 *     quire_open("feeds.quire", NULL, &cache);
 *     quire_feed_open(cache, name, NULL, &feed);
 *
 *     quire_place place = QUIRE_PLACE_INIT;             (the head: refresh)
 *     quire_request request = QUIRE_REQUEST_INIT;
 *     quire_plan(feed, NULL, &place, &request);         (the request, and a ticket)
 *     ... ask the server, put its answer into a quire_answer ...
 *     quire_outcome outcome = QUIRE_OUTCOME_INIT;
 *     quire_ingest(feed, NULL, request.ticket, &answer, &outcome);
 *
 *     quire_snapshot *snapshot = NULL;                  (read what is cached)
 *     quire_snapshot_begin(cache, &snapshot);
 *     quire_read_after(snapshot, feed, NULL, rows, 64, &count);
 *
 * What is not in this file is not API. Bindings/c holds three complete programs.
 *
 * HOUSE RULES. They hold for every function; a function's comment says only what it adds.
 *
 * Errors    A function that can fail returns a quire_status: QUIRE_OK, or a negative number that is never
 *           given another meaning. Out parameters come last, are called out_*, and are zeroed on failure.
 *           quire_last_error() gives the sentence that goes with the last failure of the calling thread;
 *           success does not clear it. Every function below that returns a status may return
 *           QUIRE_BAD_ARGUMENT, QUIRE_BAD_HANDLE and QUIRE_FORKED; those that write also QUIRE_DISK_FULL,
 *           QUIRE_NO_PERMISSION, QUIRE_IO, QUIRE_CORRUPT, QUIRE_BUSY, QUIRE_SNAPSHOTS_OPEN and
 *           QUIRE_WOULD_DEADLOCK; those that read also QUIRE_IO and QUIRE_CORRUPT, those that read from a
 *           quire_snapshot QUIRE_SNAPSHOT_EXPIRED, those that read without one QUIRE_SNAPSHOTS_OPEN. Their
 *           comments name only others.
 * Arguments A call does nothing and returns QUIRE_BAD_ARGUMENT for NULL where a value is needed, NULL with a
 *           length, a misaligned pointer, an unknown enum value or flag, or a count that overflows. A
 *           parameter that may be NULL is marked QUIRE_NULLABLE, and the comment says what NULL means.
 * Handles   quire_cache, quire_feed, quire_crawl, quire_snapshot, quire_window, quire_merge, quire_view. They are
 *           names, not addresses: never dereference one. The caller that received a handle from an out_ parameter owns it and
 *           releases it once. Releasing NULL, a released handle or garbage does nothing. Any other use of one of
 *           these, or of a handle of another type, returns QUIRE_BAD_HANDLE. Handles can be released in any order:
 *           each keeps its cache open, and the file is closed with the last one.
 * Bytes     quire_bytes is a borrowed range, not NUL-terminated; it may hold any byte. As an argument it is
 *           borrowed until the call returns. As a result it is read-only and lives as long as its owner:
 *           a snapshot until quire_snapshot_end(), a quire_request, quire_outcome or quire_list until it
 *           is freed. Bodies point into the memory-mapped file;
 *           writing to one kills the process.
 * Structs   Those that start with struct_size may grow at their end in later versions, and so may quire_post,
 *           whose size stands in quire_answer.post_size. Initialise them with their _INIT macro. The library
 *           reads and writes no further than struct_size. A program of an older header passes less: members
 *           that it does not know read as 0, which does what was done before there were any. A program of a
 *           newer header passes more: that must be 0 in an argument, and is zeroed in a result. A size below
 *           that of version 0.1, or above 4,096, is QUIRE_BAD_ARGUMENT. All other structs never change.
 *           Anonymous enums name the values of int32_t members, so that a number unknown to one side is
 *           never undefined behaviour. 0 is never a valid value unless it is listed.
 * Threads   Each comment ends with a tag. [any]: from any thread, at the same time as any other call.
 *           [one]: one thread at a time per handle; another thread may carry on later. Readers never wait
 *           for writers, unless another process made the file larger than this process has mapped it.
 *           Writers take turns, across threads and processes; a write returns when its commit is on disk
 *           (see quire_durability).
 * Processes Any number of processes may use one file at the same time, in any language. Not on a network
 *           file system, and not by two names (hard links), each of which would have locks of its own: a file
 *           with a second name is opened with QUIRE_READ_ONLY only, else QUIRE_IO. After fork(), if the
 *           process had ever opened a cache, every call in the child returns QUIRE_FORKED and every release
 *           does nothing; the parent is not affected. Open caches after forking, or exec.
 * Callbacks get the context they were passed with, run on the calling thread before the call returns, and
 *           must return: no longjmp(), no C++ exception may leave them. Those of a view (section 15) also run in
 *           later calls; their comments say when, and on which threads.
 *
 * C99 or later, C++11 or later. Link with -lquire; see quire.pc and find_package(Quire).
 */
#ifndef QUIRE_H
#define QUIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * QUIRE_NULLABLE marks a pointer that may be NULL, QUIRE_NONNULL one that must not. Swift sees both as
 * optional: the library checks what C passes.
 */
#if defined(__swift__)
#define QUIRE_NULLABLE _Nullable
#define QUIRE_NONNULL _Nullable
#elif defined(__clang__)
#if !__has_feature(nullability)
#define QUIRE_NULLABLE
#define QUIRE_NONNULL
#else
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define QUIRE_NULLABLE _Nullable
#define QUIRE_NONNULL _Nonnull
#define QUIRE_POP_DIAGNOSTIC
#endif
#else
#define QUIRE_NULLABLE
#define QUIRE_NONNULL
#endif

/* ---- 1. Version ------------------------------------------------------------------------------------ */

/* major * 10000 + minor * 100 + patch */
#define QUIRE_VERSION_NUMBER 100
#define QUIRE_VERSION_STRING "0.1.0"

/*
 * The version of the library that is running; compare it with QUIRE_VERSION_NUMBER of the header. A
 * library serves every program that was compiled with a header of the same major version, not newer
 * than itself. [any] Since 0.1
 */
uint32_t quire_version_number(void);

/* The same as text, such as "0.1.0". [any] Since 0.1 */
const char *QUIRE_NONNULL quire_version_string(void);

/* ---- 2. Errors ------------------------------------------------------------------------------------- */

/* QUIRE_OK or one of the negative numbers below. */
typedef int32_t quire_status;

enum {
    QUIRE_OK = 0,
    /* An argument is outside its documented range. */
    QUIRE_BAD_ARGUMENT = -1,
    /* NULL, a released handle, a handle of another type, or no handle at all. */
    QUIRE_BAD_HANDLE = -2,
    /* This process is a fork of the one that opened the cache, or the file was moved, removed or replaced
       while it was open; quire_last_error() says which. Close the cache. */
    QUIRE_FORKED = -3,
    /* The named feed, page or post does not exist. */
    QUIRE_NOT_FOUND = -4,
    /* The feed exists with other options than those asked for. */
    QUIRE_OPTIONS_DIFFER = -5,
    /* The file is not a Quire cache; it was left untouched. */
    QUIRE_NOT_A_CACHE = -6,
    /* The cache was written by a newer version of Quire; it was left untouched. */
    QUIRE_NEWER_FORMAT = -7,
    /* A record does not read back as it was written. */
    QUIRE_CORRUPT = -8,
    /* The disk, or the quota, is full. */
    QUIRE_DISK_FULL = -9,
    /* Permission to read or write the file is missing. */
    QUIRE_NO_PERMISSION = -10,
    /* The operating system refused; quire_error.os_error has its error number. */
    QUIRE_IO = -11,
    /* The call would wait for itself: a write inside a batch of the same thread, but outside of it. */
    QUIRE_WOULD_DEADLOCK = -12,
    /* quire_wait: nothing was committed in time. */
    QUIRE_TIMEOUT = -13,
    /* quire_changes_since: the log does not reach back that far. Read the feeds anew. */
    QUIRE_RESYNC = -14,
    /* Inside a batch: the file must grow. Return from the callback; it will be called again. */
    QUIRE_AGAIN = -15,
    /* A batch was used on another thread than its own. */
    QUIRE_WRONG_THREAD = -16,
    /* Another process, or another copy of this library, has the cache and did not let go of it in time. */
    QUIRE_BUSY = -17,
    /* Too many commits were made since the snapshot began; see quire_cache_options. */
    QUIRE_SNAPSHOT_EXPIRED = -18,
    /* quire_parse of quire_profiles.h: the response is not what its profile describes. */
    QUIRE_BAD_RESPONSE = -19,
    /* A replica's file: the machine stopped before its commits were flushed. Remove it; the log builds it anew. */
    QUIRE_UNCLEAN = -20,
    /* Of a cluster (quire_cluster.h): the log cannot be reached, and nothing was written. */
    QUIRE_UNAVAILABLE = -21,
    /* Of a cluster: the log did not answer. The write may have happened, or may yet. */
    QUIRE_IN_DOUBT = -22,
    /* Of a cluster: its address does not read, or the log is set up in a way that would lose entries. */
    QUIRE_MISCONFIGURED = -23,
    /*
     * The file became larger than this process has mapped it, or must be opened again after a failure. That waits for
     * the snapshots of this process, and one stayed open for 5 seconds. End them, and call again.
     */
    QUIRE_SNAPSHOTS_OPEN = -24
};

typedef struct quire_error {
    uint32_t struct_size;
    /* QUIRE_OK if no call of this thread has failed yet. */
    quire_status status;
    /* The operating system's error number, 0 if it had none. */
    int32_t os_error;
    int32_t reserved;
    /*
     * One English sentence that names the place, UTF-8, NUL-terminated, without control characters,
     * at most 1,023 bytes. Valid until the next failure on this thread.
     */
    const char *QUIRE_NULLABLE message;
} quire_error;

#define QUIRE_ERROR_INIT { sizeof(quire_error), 0, 0, 0, NULL }

/*
 * The error of the last call of this thread that failed. It does not change what it reports, and works in
 * a forked child. [any] Since 0.1
 */
quire_status quire_last_error(quire_error *QUIRE_NONNULL out_error);

/* The name of a status, such as "bad-argument"; "unknown" for any other number. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_status_name(quire_status status);

/* ---- 3. Bytes, lists, links ------------------------------------------------------------------------ */

/* A borrowed range of bytes. data may be NULL if size is 0. */
typedef struct quire_bytes {
    const void *QUIRE_NULLABLE data;
    size_t size;
} quire_bytes;

/* Initialises a quire_bytes from a string literal, without its NUL. */
#define QUIRE_LITERAL(text) { "" text, sizeof(text) - 1 }

/*
 * Prints a quire_bytes with printf(): printf("feed " QUIRE_BYTES_FMT ": %d rows\n", QUIRE_BYTES_ARG(name), rows). It
 * ends at a NUL and after INT32_MAX bytes. Bytes from a server may hold what moves a terminal's cursor.
 * bytes: evaluated several times.
 */
#define QUIRE_BYTES_FMT "%.*s"
#define QUIRE_BYTES_ARG(bytes) \
    ((bytes).data == NULL ? 0 : (bytes).size > INT32_MAX ? INT32_MAX : (int)(bytes).size), \
        ((bytes).data == NULL ? "" : (const char *)(bytes).data)

/*
 * Ids of posts: any bytes, 1 to 65,536 of them. Two ids are the same if their bytes are. A number is
 * its decimal text; canonical numbers below 2^64 are stored as integers.
 */
#define QUIRE_ID_LIMIT 65536
/* The most bytes of a server's link or of a field's name: UTF-8, at least 1 byte. */
#define QUIRE_TEXT_LIMIT 1048576
/* The most bytes of a feed's name: UTF-8, at least 1 byte. */
#define QUIRE_NAME_LIMIT 255
/* The bodies of one answer, together. */
#define QUIRE_BODIES_LIMIT 1073741824
/* Posts per request, page sizes and similar counts. */
#define QUIRE_COUNT_LIMIT 16777216

/* An array of ids; items may be NULL if count is 0. */
typedef struct quire_ids {
    const quire_bytes *QUIRE_NULLABLE items;
    size_t count;
} quire_ids;

/* A list that the library made. Free it with quire_list_free(). */
typedef struct quire_list {
    uint32_t struct_size;
    int32_t reserved;
    size_t count;
    const quire_bytes *QUIRE_NULLABLE items;
    /* The library's own. */
    void *QUIRE_NULLABLE owner;
} quire_list;

#define QUIRE_LIST_INIT { sizeof(quire_list), 0, 0, NULL, NULL }

/* Frees what a list owns and empties it. NULL and an empty list are fine. [one] Since 0.1 */
void quire_list_free(quire_list *QUIRE_NULLABLE list);

/* What is known about the continuation at an open place of a feed. */
enum {
    /* Nothing is known about what lies beyond. */
    QUIRE_LINK_UNKNOWN = 0,
    /* The server said that nothing lies beyond. */
    QUIRE_LINK_END = 1,
    /* The server said "end" once although posts are cached below; ask again. */
    QUIRE_LINK_CONFIRM_END = 2,
    /* The request for the first page. */
    QUIRE_LINK_HEAD = 3,
    /* Feeds paged by offset or number: there is more, and its position is computed. In others: as unknown. */
    QUIRE_LINK_MORE = 4,
    /* The server's own words in text: a URL, a cursor, "page=17". */
    QUIRE_LINK_TOKEN = 5,
    /*
     * Keyset feeds: what lies directly below, or directly above, the post whose id stands in text. The newest posts
     * above it, as Mastodon's since_id gives them, are the answer to a bounded refresh, not to this.
     */
    QUIRE_LINK_BELOW = 6,
    QUIRE_LINK_ABOVE = 7
};

typedef struct quire_link {
    int32_t kind;
    /*
     * Results only, 1 or 0: the answer to this link starts above the post at the border, not directly
     * beyond it.
     */
    int32_t is_overlapping;
    /* QUIRE_LINK_TOKEN, _BELOW and _ABOVE. */
    quire_bytes text;
} quire_link;

/* ---- 4. The cache ---------------------------------------------------------------------------------- */

typedef struct quire_cache quire_cache;

/* What a commit promises when the power fails. A killed process loses nothing either way. */
enum {
    /* A commit is on disk when the call returns. The default. */
    QUIRE_DURABILITY_FULL = 0,
    /* The last commits may be lost; the cache is never damaged. About half the price. */
    QUIRE_DURABILITY_RELAXED = 1
};

/* Flags of quire_cache_options. */
enum {
    /*
     * Tests the whole file first, as quire_verify() does. Use it for a file that you did not write: such a file
     * could crash the process. It reads all of the file. A cache that this process has open is not tested again.
     */
    QUIRE_VERIFY_ON_OPEN = 1,
    /*
     * Opens a cache that exists for reading only; everything that writes then returns QUIRE_NO_PERMISSION. It needs
     * no right to write to the file or its folder. What is promised while another process writes:
     * - If this process may write to both companions, or owns the file and may create them, it reads in place and
     *   takes part in the locks. A snapshot is one commit; the next one sees what was committed meanwhile.
     * - If the whole file system is mounted for reading only, it reads in place without locks: no process can write
     *   there.
     * - Else writers would not notice this reader and could reuse what it reads. So the newest commit is copied to
     *   a temporary file without a name (in TMPDIR), and all snapshots show that commit; quire_wait() ends only
     *   by its timeout. Open the cache again to see what was written later. The same if the file has another name
     *   (a hard link), by which others may write to it with other locks.
     * Errors of quire_open() with this flag: QUIRE_IO if there is no file; QUIRE_BUSY if commits are so frequent that
     * none could be copied. A cache that this process has open for reading only cannot be opened for writing
     * until it is closed: QUIRE_BUSY.
     */
    QUIRE_READ_ONLY = 2
};

typedef struct quire_cache_options {
    uint32_t struct_size;
    int32_t durability;
    /*
     * Address space reserved for the file, in bytes, at most 2^46; 0 is 64 GiB. It is not disk space,
     * and it grows when it must, which waits for the snapshots of this process (QUIRE_SNAPSHOTS_OPEN).
     */
    uint64_t map_size;
    /*
     * How long a write waits for other writers, of this process or another, before it fails with QUIRE_BUSY:
     * in milliseconds; 0 is 30,000, UINT32_MAX is for ever.
     */
    uint32_t write_timeout_ms;
    /*
     * Maximum age of a snapshot, in commits. Reading from an older one fails with QUIRE_SNAPSHOT_EXPIRED. An open
     * snapshot keeps freed space from reuse, so the file grows meanwhile. What it has given stays valid until it
     * ends. 0 is 100,000, UINT32_MAX is no limit.
     */
    uint32_t maximum_snapshot_age;
    uint32_t flags;
    uint32_t reserved;
} quire_cache_options;

#define QUIRE_CACHE_OPTIONS_INIT { sizeof(quire_cache_options), QUIRE_DURABILITY_FULL, 0, 0, 0, 0, 0 }

/*
 * Opens the cache at a path (UTF-8, NUL-terminated), creating it if there is none. The file gets two
 * companions, <path>-lock and <path>-open. Opening one file several times in a process is fine: the handles
 * share it, and the options of the first hold. Two copies of this library in one process cannot share one:
 * the second gets QUIRE_BUSY.
 * options: NULL is the defaults.
 * Errors: QUIRE_NOT_A_CACHE, QUIRE_NEWER_FORMAT, QUIRE_NO_PERMISSION, QUIRE_DISK_FULL, QUIRE_IO; QUIRE_CORRUPT
 * if it is seen to be damaged: repair it; QUIRE_BUSY also if LMDB is 0.9.26 to 0.9.31, here or there, and another
 * process has the cache open.
 * [any] Since 0.1
 */
quire_status quire_open(
    const char *QUIRE_NONNULL path, const quire_cache_options *QUIRE_NULLABLE options,
    quire_cache *QUIRE_NULLABLE *QUIRE_NONNULL out_cache);

/* The limits of a cache, a collection or a feed. 0 is no limit. */
typedef struct quire_limits {
    uint64_t posts;
    uint64_t body_bytes;
    /*
     * The greatest age of a page in milliseconds: quire_answer.fetched_at of the newest answer in a commit,
     * minus that of the page.
     */
    uint64_t age_ms;
} quire_limits;

/* How large a cache may become. Docs/budget.md says what leaves, and when. */
typedef struct quire_budget {
    uint32_t struct_size;
    uint32_t reserved;
    /* Of the file: the bytes that records occupy, without free space. 0 is no limit. */
    uint64_t file_bytes;
    /* Of the whole cache, of each collection, of each feed. */
    quire_limits cache;
    quire_limits collection;
    quire_limits feed;
} quire_budget;

#define QUIRE_BUDGET_INIT { sizeof(quire_budget), 0, 0, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }

/*
 * Opens a cache as quire_open() does. Each commit through it takes away what is over the budget: pages of the
 * least recently used feeds, never a pinned, visible or local post, nor what the commit brought. What leaves
 * becomes a gap that can be fetched again. The budget is not in the file; if this process has the file open
 * already, that of the first handle holds. [any] Since 0.1
 */
quire_status quire_open_with_budget(
    const char *QUIRE_NONNULL path, const quire_cache_options *QUIRE_NULLABLE options,
    const quire_budget *QUIRE_NONNULL budget, quire_cache *QUIRE_NULLABLE *QUIRE_NONNULL out_cache);

/*
 * Releases the handle. Calls of other threads that are inside go on to their end; a quire_wait() on this
 * handle ends with QUIRE_BAD_HANDLE. [any] Since 0.1
 */
void quire_close(quire_cache *QUIRE_NULLABLE cache);

typedef struct quire_statistics {
    uint32_t struct_size;
    int32_t reserved;
    uint64_t feeds;
    /* Distinct posts, each stored once; pages and gaps of all feeds. */
    uint64_t posts;
    uint64_t pages;
    uint64_t gaps;
    /* Bytes of all bodies in use, and of dead ones that share a record with one in use. */
    uint64_t body_bytes;
    uint64_t dead_body_bytes;
    /* Number of commits made so far. */
    uint64_t generation;
    /* Bytes of the file that records occupy, and bytes that are free for reuse. */
    uint64_t used_bytes;
    uint64_t free_bytes;
    /* Number of open snapshots in all processes. The one used to count is among them. */
    uint64_t snapshots;
    /* Commits to the file since the oldest of them began, and the process that has it open. */
    uint64_t oldest_snapshot_age;
    int64_t oldest_snapshot_process;
    /* Bytes that writers could reuse if the oldest snapshot were closed. */
    uint64_t pinned_bytes;
} quire_statistics;

#define QUIRE_STATISTICS_INIT { sizeof(quire_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Totals of the cache and of its file. The time grows with the number of feeds, of body records with dead bytes, of
 * commits that an open snapshot keeps from reuse, and of open snapshots in all processes: about 0.2 microseconds
 * for each feed. Ask on the order of once a second, not for each row. [any] Since 0.1
 */
quire_status quire_stats(
    quire_cache *QUIRE_NONNULL cache, quire_statistics *QUIRE_NONNULL out_statistics);

typedef struct quire_evictions {
    uint32_t struct_size;
    uint32_t reserved;
    /* What budgets have taken from the cache in the life of the file: pages, posts, bytes of bodies. */
    uint64_t pages;
    uint64_t posts;
    uint64_t body_bytes;
    /* The posts by the limit that took them: age, those of feeds, of collections, of the cache, of the file. */
    uint64_t posts_by_age;
    uint64_t posts_by_feed;
    uint64_t posts_by_collection;
    uint64_t posts_by_cache;
    uint64_t posts_by_file;
    /* How often rows were read, and how many requests were planned for what had been evicted. */
    uint64_t hits;
    uint64_t misses;
} quire_evictions;

#define QUIRE_EVICTIONS_INIT { sizeof(quire_evictions), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* What the budget has taken, and whether it was missed. One look-up, however many feeds there are. [any] Since 0.1 */
quire_status quire_get_evictions(
    quire_cache *QUIRE_NONNULL cache, quire_evictions *QUIRE_NONNULL out_evictions);

/* What kind of damage a check found. */
enum {
    /* A record's checksum does not match its bytes. */
    QUIRE_FINDING_CHECKSUM = 1,
    /* A record or its key does not decode. */
    QUIRE_FINDING_UNREADABLE = 2,
    /* A record that another one names does not exist. */
    QUIRE_FINDING_MISSING = 3,
    /* A record that nothing names. */
    QUIRE_FINDING_ORPHAN = 4,
    /* A stored count differs from what is there. */
    QUIRE_FINDING_COUNT = 5,
    /* An id stands twice in a feed, or the index names another place. */
    QUIRE_FINDING_INDEX = 6,
    /* A gap where none may be. */
    QUIRE_FINDING_GAP = 7,
    /* Keys do not descend as the order class promises. */
    QUIRE_FINDING_ORDER = 8,
    /* An entry shows another body than its post. */
    QUIRE_FINDING_BODY = 9,
    /* A page of LMDB's trees is not what LMDB writes. Found in a file that is not open, by a walk of it. */
    QUIRE_FINDING_PAGE = 10,
    /* Pages in use and free pages do not add up to the file. Found in a file that is not open. */
    QUIRE_FINDING_SPACE = 11,
    /* The record of the format is missing, or not what this version writes. */
    QUIRE_FINDING_HEADER = 12,
    /* A number or a time is 0, or above the counter that gives them out. */
    QUIRE_FINDING_AHEAD = 13
};

typedef struct quire_finding {
    int32_t code;
    int32_t reserved;
    /* Where: a feed, a post, a table. UTF-8, as is message. */
    quire_bytes location;
    quire_bytes message;
} quire_finding;

/*
 * Receives one finding, valid until the callback returns. It is called after the search has ended or was stopped,
 * and may use the cache in any way.
 */
typedef void (*quire_finding_callback)(
    void *QUIRE_NULLABLE context, const quire_finding *QUIRE_NONNULL finding);

/*
 * Receives the estimated progress of a long operation, from 0 to 1. If it returns anything but QUIRE_OK, the
 * operation stops, returns that number as it is, also one that is no quire_status, and has changed nothing. It must
 * not write to the cache.
 */
typedef quire_status (*quire_progress_callback)(void *QUIRE_NULLABLE context, double done);

/* Flags of quire_check. */
enum {
    /*
     * Tests only the format, the counters, and the gaps and edges of each feed: a few look-ups for each feed and
     * each gap. Tests no record of posts, pages or bodies.
     */
    QUIRE_CHECK_QUICK = 1
};

/*
 * Tests every record and every invariant in one snapshot. Others may read and write meanwhile. Changes nothing.
 * QUIRE_OK means that the test ran to its end. The cache is sound if *out_count is 0. If *out_count is the limit,
 * there may be more findings. If `progress` stops the test, `found` still gets the findings until then.
 *   limit     the largest number of findings; 0 means 100
 *   found     called for each finding; NULL only counts
 *   progress  called from time to time; may be NULL
 *   context   passed to both callbacks
 * [any] Since 0.1
 */
quire_status quire_check(
    quire_cache *QUIRE_NONNULL cache, uint32_t flags, size_t limit,
    quire_finding_callback QUIRE_NULLABLE found, quire_progress_callback QUIRE_NULLABLE progress,
    void *QUIRE_NULLABLE context, size_t *QUIRE_NONNULL out_count);

/*
 * Tests a file that no program uses, without trust in any byte of it: first without LMDB, page by page and record
 * by record; if LMDB can read it, also what holds between the records, as quire_check() does. A file without
 * findings can be opened. Changes nothing in it.
 * Errors: QUIRE_NOT_A_CACHE, QUIRE_NEWER_FORMAT, QUIRE_BAD_ARGUMENT if this process has the cache open, QUIRE_IO
 * if others go on writing to it.
 * limit, found, progress, context, *out_count: as for quire_check(). [any] Since 0.1
 */
quire_status quire_verify(
    const char *QUIRE_NONNULL path, size_t limit, quire_finding_callback QUIRE_NULLABLE found,
    quire_progress_callback QUIRE_NULLABLE progress, void *QUIRE_NULLABLE context,
    size_t *QUIRE_NONNULL out_count);

/* The name of a finding's code, such as "checksum"; "unknown" for other numbers. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_finding_name(int32_t code);

/*
 * Writes a compact copy of the last commit. No file may exist at the path. Others may read and write meanwhile.
 * The copy appears only when it is complete and on disk; until then it is <path>.copying, which only this user
 * may read. The next copy to the path removes one that a killed process left.
 * Errors: QUIRE_BAD_ARGUMENT if something exists at the path, QUIRE_BUSY if another copy to it is being made.
 * [any] Since 0.1
 */
quire_status quire_copy(quire_cache *QUIRE_NONNULL cache, const char *QUIRE_NONNULL path);

/*
 * Moves bodies together that share a record with many dead ones; stops after moving `budget` bytes
 * (0: 1 MiB). *out_freed gets the bytes that became free for reuse; 0 means that nothing was left to do.
 * [any] Since 0.1
 */
quire_status quire_reclaim(
    quire_cache *QUIRE_NONNULL cache, size_t budget, uint64_t *QUIRE_NONNULL out_freed);

/* One feed after a repair. */
typedef struct quire_repaired_feed {
    /* UTF-8. */
    quire_bytes name;
    /* Posts in it now, and posts known to be lost. More may be lost at new gaps. */
    uint64_t posts;
    uint64_t lost_posts;
    /* Bodies lost in a feed of ids, whose posts keep their places as placeholders. */
    uint64_t lost_bodies;
    /* Gaps in it now, and how many of them are new. */
    uint64_t gaps;
    uint64_t new_gaps;
    /* Not 0: the feed is lost, because its record with its order class is lost. */
    int32_t is_lost;
    int32_t reserved;
} quire_repaired_feed;

typedef struct quire_repair_report {
    uint32_t struct_size;
    /* Not 0: the file was sound, and nothing was done. */
    int32_t is_sound;
    /* Records that could not be read. */
    uint64_t damaged_records;
    const quire_repaired_feed *QUIRE_NULLABLE feeds;
    size_t count;
    /* Where the damaged file is now; empty if nothing was changed. */
    quire_bytes kept_file;
    void *QUIRE_NULLABLE owner;
} quire_repair_report;

#define QUIRE_REPAIR_REPORT_INIT { sizeof(quire_repair_report), 0, 0, NULL, 0, {NULL, 0}, NULL }

/* Flags of quire_repair. */
enum {
    /* Changes nothing, and reports what would be done. The new file is built and removed again. */
    QUIRE_REPAIR_DRY_RUN = 1
};

/*
 * Repairs a damaged file: builds a new cache from the sound records, and keeps the damaged file beside it, as
 * PATH.corrupt-1 or the next free number. A sound file is left as it is. A gap opens, or the head or the tail,
 * where posts were lost. At every moment either the old file or the new one is at the path. Free the report with
 * quire_repair_report_free().
 * Errors: QUIRE_BAD_ARGUMENT if this process has the cache open, QUIRE_BUSY if another process has,
 * QUIRE_NOT_A_CACHE, QUIRE_NEWER_FORMAT. [any] Since 0.1
 */
quire_status quire_repair(
    const char *QUIRE_NONNULL path, uint32_t flags, quire_progress_callback QUIRE_NULLABLE progress,
    void *QUIRE_NULLABLE context, quire_repair_report *QUIRE_NONNULL out_report);

/* Frees what the report holds, and clears it. NULL is allowed. [any] Since 0.1 */
void quire_repair_report_free(quire_repair_report *QUIRE_NULLABLE report);

/*
 * Rewrites the cache without free space. Bodies that were deleted, replaced or pruned are no longer in the file.
 * The disk may still have them in blocks that it has not used again. *out_freed gets the number of bytes by which
 * the file became smaller.
 * Errors: as for quire_repair(), and QUIRE_CORRUPT if the cache is damaged. [any] Since 0.1
 */
quire_status quire_compact(
    const char *QUIRE_NONNULL path, quire_progress_callback QUIRE_NULLABLE progress,
    void *QUIRE_NULLABLE context, uint64_t *QUIRE_NONNULL out_freed);

/* ---- 5. Feeds -------------------------------------------------------------------------------------- */

/* One server list in a cache. May be used from any thread, by readers and writers alike. */
typedef struct quire_feed quire_feed;

/* What the server promises about order. */
enum {
    /* Total, immutable, descending keys. */
    QUIRE_ORDER_STABLE = 1,
    /* The order never changes, but there is no key. The default. */
    QUIRE_ORDER_KEYLESS = 2,
    /* Keys only grow; a touched entry rises to the top. */
    QUIRE_ORDER_BUMP = 3,
    /* No deletion, no move: absence proves nothing. */
    QUIRE_ORDER_APPEND_ONLY = 4,
    /* No promise at all. */
    QUIRE_ORDER_RANKED = 5
};

/* How the server hands out its pages. */
enum {
    /* An opaque link to the next page comes with each page. The default. */
    QUIRE_PAGING_CURSOR = 1,
    /* Requests name a post: everything below it, or above it. */
    QUIRE_PAGING_KEYSET = 2,
    /* Requests name a position and a count. */
    QUIRE_PAGING_OFFSET = 3,
    /* Requests name a page number and a page size. */
    QUIRE_PAGING_PAGE = 4,
    /* The whole list of ids first, bodies on demand. */
    QUIRE_PAGING_IDS = 5,
    /* Links come with each page and are positions ("page=2"): posts slide over them. */
    QUIRE_PAGING_PAGES = 6
};

/* Flags of quire_feed_options. */
enum {
    /* One reported end is enough to remove what is cached below it. */
    QUIRE_FEED_TRUSTS_END = 1,
    /* Crawls: open a gap where only the numbering claims contiguity. */
    QUIRE_FEED_STRICT = 2
};

/* Who chooses how many rows a page has, in feeds paged by offset or number. */
enum {
    /* Not known: requests keep the same size, and the engine learns from the answers. The default. */
    QUIRE_SIZES_UNKNOWN = 0,
    /* The server grants any size up to the limit that is asked for. */
    QUIRE_SIZES_FREE = 1,
    /* The server fixes the size, whatever is asked for: no request names one. */
    QUIRE_SIZES_FIXED = 2
};

/* The options of a feed, fixed when it is created. */
typedef struct quire_feed_options {
    uint32_t struct_size;
    int32_t order;
    int32_t paging;
    uint32_t flags;
    /* How many posts a request asks for unless it says otherwise. 1 to QUIRE_COUNT_LIMIT. */
    uint32_t page_size;
    /* Ranked feeds: how many neighbours prove that a page joins what is cached. At least 1. */
    uint32_t minimum_run;
    /* The number of the first page in feeds paged by number. At most QUIRE_COUNT_LIMIT. */
    uint32_t first_page;
    /* Who chooses the size of a page. An answer that proves it wrong makes it QUIRE_SIZES_UNKNOWN. */
    int32_t sizes;
    /* Posts that the server shows out of order, such as announcements. */
    quire_ids sticky;
    /*
     * The collection that the feed's posts belong to, UTF-8, up to QUIRE_NAME_LIMIT bytes. Feeds of one
     * collection share what they know of a post: body, version, fields. Feeds of two share nothing, whatever
     * the ids are. The default, no bytes, is a collection like any other. Use it if all ids come from one server
     * that gives none of them twice.
     */
    quire_bytes collection;
    /* QUIRE_SIZES_FIXED: the rows of a page, 1 to QUIRE_COUNT_LIMIT; else 0. */
    uint32_t rows_per_page;
    uint32_t reserved;
} quire_feed_options;

#define QUIRE_FEED_OPTIONS_INIT                                                                     \
    {                                                                                               \
        sizeof(quire_feed_options), QUIRE_ORDER_KEYLESS, QUIRE_PAGING_CURSOR, 0, 20, 2, 1, 0,        \
            { NULL, 0 }, { NULL, 0 }, 0, 0                                                          \
    }

/*
 * The feed with this name. One that does not exist is created with the options.
 * options: NULL takes the feed as it is, or creates it with the defaults.
 * Errors: QUIRE_OPTIONS_DIFFER if it exists and was created with others. [any] Since 0.1
 */
quire_status quire_feed_open(
    quire_cache *QUIRE_NONNULL cache, quire_bytes name,
    const quire_feed_options *QUIRE_NULLABLE options,
    quire_feed *QUIRE_NULLABLE *QUIRE_NONNULL out_feed);

/* The feed with this name if it exists. Errors: QUIRE_NOT_FOUND. [any] Since 0.1 */
quire_status quire_feed_find(
    quire_cache *QUIRE_NONNULL cache, quire_bytes name,
    quire_feed *QUIRE_NULLABLE *QUIRE_NONNULL out_feed);

/* Releases the handle; the feed stays in the cache. [any] Since 0.1 */
void quire_feed_close(quire_feed *QUIRE_NULLABLE feed);

/* The names of all feeds, in order of their bytes. [any] Since 0.1 */
quire_status quire_feed_names(
    quire_cache *QUIRE_NONNULL cache, quire_list *QUIRE_NONNULL out_names);

/* ---- 6. Batches ------------------------------------------------------------------------------------ */

/*
 * Many writes in one commit, which is much faster than one each. Most writing functions take a batch;
 * NULL makes the call a commit of its own. Those that take none always make one.
 */
typedef struct quire_batch quire_batch;

/*
 * Writes through `batch` and returns QUIRE_OK to commit, anything else to undo all of it: quire_batch_run() then
 * returns that number as it is, also one that is no quire_status, and quire_last_error() does not change. The library
 * returns no positive number, so those are free for the reasons of a program. The handle is
 * valid until the callback returns, and ON THE CALLING THREAD ONLY: LMDB ties a write transaction to its
 * thread; elsewhere it gives QUIRE_WRONG_THREAD.
 *
 * A function that fails in the engine, that is with anything but QUIRE_BAD_ARGUMENT or QUIRE_BAD_HANDLE
 * before it began, ends its batch: later calls in it return the same status, nothing is committed, and
 * quire_batch_run() returns that status even if the callback returns QUIRE_OK.
 *
 * The callback may be called a second time: then everything of the first call was undone, crawls included,
 * because the file had to grow or another writer of this process that shared its commit failed. If the file
 * must grow, functions return QUIRE_AGAIN before that; return from the callback then. Batches of several
 * threads may share a commit, so the callback must not wait for the writes of another thread.
 *
 * Snapshots taken inside see the cache as it was before the batch.
 */
typedef quire_status (*quire_batch_callback)(
    void *QUIRE_NULLABLE context, quire_batch *QUIRE_NONNULL batch);

/*
 * Runs the callback on the calling thread inside a write transaction; only one process at a time has one.
 * Returns the status of the callback, or that of the commit if it failed. Keep batches to 16 to 64 pages.
 * Errors: QUIRE_WOULD_DEADLOCK inside another batch of this file. [any] Since 0.1
 */
quire_status quire_batch_run(
    quire_cache *QUIRE_NONNULL cache, quire_batch_callback QUIRE_NONNULL callback,
    void *QUIRE_NULLABLE context);

/* ---- 7. Plan: requests for the server -------------------------------------------------------------- */

/* The place for which a request asks. */
enum {
    /* The first page: a refresh. */
    QUIRE_PLACE_HEAD = 1,
    /* Below the last post. */
    QUIRE_PLACE_TAIL = 2,
    /* Below the post above a gap. */
    QUIRE_PLACE_GAP = 3,
    /* Above the post below a gap. */
    QUIRE_PLACE_ABOVE_GAP = 4,
    /*
     * Above the first post of a feed whose head is open. A keyset feed can be asked there at any time: what is above a
     * post needs no link. An empty answer is no reason to ask again.
     */
    QUIRE_PLACE_OPEN_HEAD = 5,
    /* Around a post, wherever it is. */
    QUIRE_PLACE_AROUND = 6,
    /*
     * Those of `posts` whose bodies are missing, not full, or outdated (R31.5); QUIRE_REFUSAL_END if there are
     * none. In feeds paged by ids QUIRE_PLACE_TAIL asks for the topmost missing ones.
     */
    QUIRE_PLACE_BODIES = 7,
    /* Feeds paged by number: the page with the number `page`, wherever it belongs. */
    QUIRE_PLACE_PAGE = 8,
    /*
     * Feeds paged by offset or number: the join directly above the post `target`, if only the numbering claims it
     * (QUIRE_ROW_UNVERIFIED). Asks for the page above it again; the rows then say what that proved.
     */
    QUIRE_PLACE_JOIN = 9,
    /* The changes since the token that was kept of the answers (R29); see quire_answer.since. */
    QUIRE_PLACE_DELTA = 10
};

typedef struct quire_place {
    uint32_t struct_size;
    int32_t kind;
    /* The gap's number, from quire_row.gap. */
    uint64_t gap;
    /* QUIRE_PLACE_AROUND: the post. QUIRE_PLACE_JOIN: the post below the join. */
    quire_bytes target;
    /* How many posts to ask for; 0 is the feed's page size. No request asks for more. */
    uint32_t limit;
    /* 1: stop at the far side of the gap, or at the first cached post: see quire_request.until. Else 0. */
    int32_t is_bounded;
    /* QUIRE_PLACE_HEAD: the link to the first page, if the server gave one; else UNKNOWN. */
    quire_link link;
    /* QUIRE_PLACE_BODIES: the posts. At most `limit` of them are asked for. */
    quire_ids posts;
    /* QUIRE_PLACE_PAGE: the page's number, less than QUIRE_PAGE_LIMIT. */
    uint64_t page;
} quire_place;

#define QUIRE_PLACE_INIT                                                                            \
    {                                                                                               \
        sizeof(quire_place), QUIRE_PLACE_HEAD, 0, { NULL, 0 }, 0, 0, { 0, 0, { NULL, 0 } },          \
            { NULL, 0 }, 0                                                                          \
    }

/* The way a request names the page it wants. */
enum {
    /* No request is possible; see quire_request.refusal. */
    QUIRE_REQUEST_NONE = 0,
    /* Follow quire_request.link. */
    QUIRE_REQUEST_LINK = 1,
    /* `limit` rows from row `position` on; 0 is the first. If `limit` is 0, send no size. */
    QUIRE_REQUEST_POSITION = 2,
    /* The page with number `position`, if a page has `limit` rows. If `limit` is 0, send no size. */
    QUIRE_REQUEST_PAGE = 3,
    /* A page around the post in link.text. */
    QUIRE_REQUEST_AROUND = 4,
    /* The list of all ids. */
    QUIRE_REQUEST_SNAPSHOT = 5,
    /* The bodies of the posts in `ids`. */
    QUIRE_REQUEST_BODIES = 6,
    /*
     * The changes since the answer that brought the token in link.text: new and changed posts, in any order, and
     * quire_answer.deleted. Posts that the answer does not name stay as they are.
     */
    QUIRE_REQUEST_DELTA = 7
};

/* Why no request is possible at a place. */
enum {
    /* Nothing is cached to continue from. */
    QUIRE_REFUSAL_EMPTY = 1,
    /* The server said that nothing lies beyond. */
    QUIRE_REFUSAL_END = 2,
    /* The head is not open: refresh. */
    QUIRE_REFUSAL_CLOSED = 3,
    /* No link leads on from this place. */
    QUIRE_REFUSAL_NO_LINK = 4,
    QUIRE_REFUSAL_NO_SUCH_GAP = 5,
    /* A gap above must be closed first. */
    QUIRE_REFUSAL_FILL_FIRST = 6,
    QUIRE_REFUSAL_UNSUPPORTED = 7,
    /* Nothing unverified joins the post to the one above it. */
    QUIRE_REFUSAL_NO_SUCH_JOIN = 8
};

/* The next step after an answer that changed no posts, or if no request is possible. */
enum {
    /* Send the same request again later. */
    QUIRE_HELP_RETRY = 1,
    /* Plan again: the cache has learned something from the answer. */
    QUIRE_HELP_PLAN_AGAIN = 2,
    /* Refresh: plan at QUIRE_PLACE_HEAD. */
    QUIRE_HELP_REFRESH = 3,
    /* Fill the gap above first. */
    QUIRE_HELP_FILL_FIRST = 4,
    /* The list may be empty on the server. If you know that it is, call quire_reset(). */
    QUIRE_HELP_RESET = 5,
    /* The order or the paging of the feed is perhaps not that of the server. */
    QUIRE_HELP_CHECK_OPTIONS = 6,
    /* The place of the request is no longer there: read the feed again. */
    QUIRE_HELP_LOOK_AGAIN = 7
};

/* The request to send to the server. Free it with quire_request_free(). */
typedef struct quire_request {
    uint32_t struct_size;
    int32_t kind;
    /* 0, or why no request is possible. */
    int32_t refusal;
    /* 1: the answer starts above the post at the border, not directly beyond it. */
    int32_t is_overlapping;
    /* The ticket with which the answer must be ingested. It survives restarts; any process may use it. */
    uint64_t ticket;
    uint64_t position;
    uint64_t limit;
    quire_link link;
    quire_ids ids;
    /*
     * Bounded requests: stop at this post; else empty. An answer that got there says so by QUIRE_LINK_END, which is
     * then the end of the range and not of the feed; it may show the post or not.
     */
    quire_bytes until;
    /* The library's own. */
    void *QUIRE_NULLABLE owner;
    /* 0, or the next step after the refusal. */
    int32_t help;
    int32_t reserved;
} quire_request;

#define QUIRE_REQUEST_INIT                                                                          \
    {                                                                                               \
        sizeof(quire_request), 0, 0, 0, 0, 0, 0, { 0, 0, { NULL, 0 } }, { NULL, 0 }, { NULL, 0 },    \
            NULL, 0, 0                                                                              \
    }

/*
 * The request for a place, or the reason why none is possible, which is not an error. Two equal requests
 * share one ticket. A feed keeps its newest 256 tickets; older ones are stale, and so are those of other feeds
 * (feeds that an older version made number their tickets alike: there one may pass for another).
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_plan(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch,
    const quire_place *QUIRE_NONNULL place, quire_request *QUIRE_NONNULL out_request);

/* Frees what a request owns and empties it; its ticket stays good. [one] Since 0.1 */
void quire_request_free(quire_request *QUIRE_NULLABLE request);

/* The name of a refusal, such as "no-link"; "unknown" for other numbers. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_refusal_name(int32_t refusal);

/* The name of a next step, such as "plan-again"; "unknown" for other numbers. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_help_name(int32_t help);

/*
 * The request failed, or its answer is no longer wanted. Plan again when you like; an answer that
 * comes late is still judged. An unknown ticket is fine.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_cancel(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, uint64_t ticket);

/* ---- 8. Ingest: the answers of the server ---------------------------------------------------------- */

/* Flags of quire_post. */
enum {
    QUIRE_POST_HAS_KEY = 1,
    QUIRE_POST_HAS_VERSION = 2,
    QUIRE_POST_HAS_DETAIL = 4
};

/*
 * How much of a post a body holds: a number from 0 to QUIRE_DETAIL_FULL. A body never gives way to one of less
 * detail; one of a newer version marks it as outdated.
 */
enum {
    /* What a list shows. */
    QUIRE_DETAIL_SUMMARY = 64,
    /* All that the server has. */
    QUIRE_DETAIL_FULL = 255
};

/* One post of an answer. */
typedef struct quire_post {
    quire_bytes id;
    /* Any bytes, copied as they are; may be empty. They may lie anywhere, in one buffer or in many. */
    quire_bytes body;
    /* The server's sort key, larger is nearer to the head; with QUIRE_POST_HAS_KEY. */
    int64_t key;
    /* The state of the post, larger is newer; with QUIRE_POST_HAS_VERSION. */
    int64_t version;
    uint32_t flags;
    /* How much of the post its body holds; with QUIRE_POST_HAS_DETAIL, else QUIRE_DETAIL_FULL. */
    uint32_t detail;
} quire_post;

/* The answer of a server to one request, parsed but not yet judged. */
typedef struct quire_answer {
    uint32_t struct_size;
    /* sizeof(quire_post), so that an array of posts can be walked by any version. */
    uint32_t post_size;
    /* The posts in the server's order. Rows without an id are counted in opaque_rows instead. */
    const quire_post *QUIRE_NULLABLE posts;
    size_t count;
    uint64_t opaque_rows;
    /* What continues below the last post; QUIRE_LINK_END only if the server said so. */
    quire_link next;
    /* What continues above the first post. */
    quire_link previous;
    /* When it was received, in milliseconds since 1970; only pruning by age uses it. */
    int64_t fetched_at;
    /* 1: the server said how many rows the whole list has, in `total`; else 0. */
    int32_t has_total;
    int32_t reserved;
    /* Feeds paged by offset or number: the rows of the whole list. A page that reaches the last one ends the feed. */
    uint64_t total;
    /*
     * The token with which a later request asks for the changes since this answer (QUIRE_PLACE_DELTA): the server's
     * own words, 1 to QUIRE_TEXT_LIMIT bytes of UTF-8. Empty if the answer brings none.
     */
    quire_bytes since;
    /*
     * QUIRE_REQUEST_DELTA: posts that were deleted on the server, in this feed; other feeds keep theirs. It is
     * ignored in other answers. If the server sends a delta in parts, collect all parts, and give their posts and
     * deletions as one answer with the last part's `since`: a request takes one answer, so the last part alone
     * would be taken for the whole delta, and the others' posts would be missing. An answer that sets `next` says
     * that parts are missing; its new posts do not go on top.
     */
    quire_ids deleted;
} quire_answer;

#define QUIRE_ANSWER_INIT                                                                           \
    {                                                                                               \
        sizeof(quire_answer), sizeof(quire_post), NULL, 0, 0, { 0, 0, { NULL, 0 } },                 \
            { 0, 0, { NULL, 0 } }, 0, 0, 0, 0, { NULL, 0 }, { NULL, 0 }                             \
    }

/*
 * The verdict on an answer. Each says how often the same place may be planned again at once. R numbers: Docs/rules.md.
 *
 * The engine does not count for the program, and no fixed number of requests is enough. The steps of a search upwards
 * double (R26.3), but then it may pass what is cached above the border page by page. A link that is a position
 * (QUIRE_PAGING_PAGES) leads one page further with each answer while posts have come above (R26.9). Give a place up
 * after 40 requests, and 2 for each row of the feed (quire_row_count()), without a change of posts, whatever the
 * verdicts were: no history of the tests needs more. A program may pause before, and go on later: what a search has
 * found is stored.
 */
enum {
    /* The answer was accepted. Going on is another request, as often as you like. */
    QUIRE_VERDICT_OK = 1,
    /* A gap closed. As for QUIRE_VERDICT_OK. */
    QUIRE_VERDICT_JOINED = 2,
    /* The page ends at a gap. As for QUIRE_VERDICT_OK; the gap is a place of its own. */
    QUIRE_VERDICT_GAP = 3,
    /*
     * The server said "end" although posts are cached below. Plan again once: if the answer ends there again, the
     * end is believed (R11). Where page numbers are tried beyond the end, an engine that needs more says
     * QUIRE_VERDICT_DRIFT.
     */
    QUIRE_VERDICT_CONFIRM_END = 4,
    /*
     * Links or estimates changed, posts did not. Plan again while this is the verdict: the next request is at another
     * number. A search at the head, or through empty pages, gives up for now after each eight pages (R7, R26.7),
     * with QUIRE_VERDICT_NO_PROGRESS; one for the border gives up when its steps have come to the top.
     */
    QUIRE_VERDICT_DRIFT = 5,
    /*
     * The border may have died, or an answer would take away too much. Plan again while this is the verdict: each
     * answer moves the edge to the end of a page further up, at last to the head (R9). At the head: once (R7).
     */
    QUIRE_VERDICT_REPLAN = 6,
    /* The request failed; nothing changed. Retry later, with growing pauses; the engine sets no limit (R3). */
    QUIRE_VERDICT_ERROR = 7,
    /*
     * The ticket no longer permits this answer; nothing changed. Plan again at once. The new ticket is good unless
     * another change of the place comes before its answer, so the number of times is that of such changes (R2).
     */
    QUIRE_VERDICT_STALE = 8,
    /*
     * The answer contradicts what is cached or the order class; nothing changed. Not again at this place: refresh
     * once. If it comes back, the options of the feed are perhaps not those of the server.
     */
    QUIRE_VERDICT_CONTRADICTION = 9,
    /*
     * The answer does not attach to the cached posts. If is_unchanged is 0 (feeds paged by position), plan again: the
     * next request looks 1, 3, 7, ... pages further up (R26.3). If it is 1, not again: refresh once.
     */
    QUIRE_VERDICT_DISCONTINUITY = 10,
    /*
     * Nothing new, and the link leads nowhere new. Never again automatically (R12). Or, if is_unchanged is 0: eight
     * pages in a row were empty, and say that more follows. The place stays open, and the next plan there asks
     * further below (R26.7). Do that when the user wants more, or a limited number of times: a server may say "more"
     * for ever.
     */
    QUIRE_VERDICT_NO_PROGRESS = 11,
    /* An empty answer, which is never believed. Not at once; retry later, as after an error. */
    QUIRE_VERDICT_EMPTY = 12,
    /* An empty answer that claims the end. Not again: if you know that the list is empty, call quire_reset(). */
    QUIRE_VERDICT_EMPTY_CONFIRM = 13,
    /* A jump that cannot be placed; nothing changed. Not again: the same answer has the same verdict (R18). */
    QUIRE_VERDICT_ISLAND = 14
};

/* The result of an ingest. Free it with quire_outcome_free(). */
typedef struct quire_outcome {
    uint32_t struct_size;
    int32_t verdict;
    /* 1: the answer left the cache exactly as it was. */
    int32_t is_unchanged;
    /* 0, or the next step, if the answer changed no posts. */
    int32_t help;
    /* Number of the page stored; 0 if none was. */
    uint64_t page;
    uint64_t duplicates_in_page;
    uint64_t opaque_rows;
    uint64_t gaps_closed;
    uint64_t gaps_opened;
    /* Posts, known before in any feed, whose stored body this answer replaced. */
    uint64_t updated;
    /*
     * QUIRE_VERDICT_STALE: "used", "other-feed" (the ticket is that of another feed), "reset", "edge-changed",
     * "feed-changed", "sizes-changed", of a message "repeated", of a crawl "no-such-gap"; else empty.
     */
    quire_bytes reason;
    /* Posts the feed did not have, in the order of the page. */
    quire_ids added;
    /* Posts of the page that the feed had already. */
    quire_ids duplicates;
    /* Posts that left their old place. */
    quire_ids moved;
    /* Posts that left the feed. */
    quire_ids removed;
    /* Posts that stay although the answer's range lacks them. */
    quire_ids kept;
    /* Ranked feeds: posts pushed below the page. */
    quire_ids displaced;
    /* Posts of the page that were not placed: deleted since, outdated, above the border, unrequested. */
    quire_ids ignored;
    /* Sticky posts that the page showed. */
    quire_ids sticky;
    /*
     * Known posts that the answer showed in an order that the feed's class forbids: evidence that the server does not
     * keep this order. Also filled if nothing else changed.
     */
    quire_ids disorder;
    /* Received posts that are neither cached afterwards nor in another of these lists. */
    quire_ids unplaced;
    /*
     * QUIRE_SIZES_FREE or _FIXED if this answer disproved the feed's `sizes`, and the rows of a page that
     * QUIRE_SIZES_FIXED stated. Sizes are learned from then on. Else 0.
     */
    int32_t disproved_sizes;
    uint32_t disproved_rows;
    /* The library's own. */
    void *QUIRE_NULLABLE owner;
} quire_outcome;

#define QUIRE_OUTCOME_INIT                                                                          \
    {                                                                                               \
        sizeof(quire_outcome), 0, 0, 0, 0, 0, 0, 0, 0, 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 },     \
            { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 },            \
            { NULL, 0 }, { NULL, 0 }, 0, 0, NULL                                                    \
    }

/*
 * Judges the answer to a planned request and, if it accepts it, stores it: the whole page or nothing.
 * A verdict against the answer is not an error. A ticket is good for one accepted answer.
 * In feeds paged by ids, the answer to QUIRE_REQUEST_SNAPSHOT lists posts without bodies, and the answer
 * to QUIRE_REQUEST_BODIES the posts asked for. A post that it lacks was deleted on the server.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_ingest(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, uint64_t ticket,
    const quire_answer *QUIRE_NONNULL answer, quire_outcome *QUIRE_NONNULL out_outcome);

/*
 * The server refuses the link of this request for good: its cursor has expired, or names a post that is gone (R32).
 * The feed forgets the link, and what is as old, and keeps all posts. Not for a request that failed: see
 * quire_cancel().
 * out_outcome: the verdict, and no posts.
 *   QUIRE_VERDICT_REPLAN: the link is forgotten and the ticket is used up. Plan again: the next request begins
 *   further up. After at most three such requests that is the head, or the gap above has to be filled first; links
 *   that are made from posts (QUIRE_LINK_BELOW) begin 1, 3, 7, ... posts further up. A server that refuses every
 *   link would be asked for ever: stop after a few. At QUIRE_PLACE_JOIN planning is refused then:
 *   QUIRE_REFUSAL_NO_LINK.
 *   QUIRE_VERDICT_ERROR, reason "no-link": the request has no link that a place keeps. It asked for the head, around
 *   a post, for bodies, by number, or above a post by a link made from it. Nothing changed, and the same request
 *   would be refused again: refresh, or fill the gap from above.
 *   QUIRE_VERDICT_STALE: as of an answer (R2). Nothing changed; an unknown ticket is "used" or "other-feed".
 * Free the outcome with quire_outcome_free(). batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_drop_link(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, uint64_t ticket,
    quire_outcome *QUIRE_NONNULL out_outcome);

/* Frees what an outcome owns and empties it. [one] Since 0.1 */
void quire_outcome_free(quire_outcome *QUIRE_NULLABLE outcome);

/* The name of a verdict, such as "no-progress"; "unknown" for other numbers. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_verdict_name(int32_t verdict);

/*
 * Stores posts that the server has pushed because they are on top now: a message of a socket, a notification. New
 * posts go on top in the order of the answer. In feeds with keys, a post that belongs further down goes to the
 * place of its key. Nothing is removed. The last new post joins the top directly if no post can have been missed:
 * `follows` is the top (not in a feed ordered by bumps, where the top may have risen, unseen), the feed is live and
 * was refreshed since, or `number` is the next one. Otherwise a gap opens below it, which a refresh closes.
 * answer: the posts, topmost first; its links and its total are not used.
 * number: the number of the message, NULL if messages have none; one that is not larger than the last is
 * QUIRE_VERDICT_STALE. follows: the post directly below the last one; no bytes if the server does not tell.
 * batch: NULL is a commit of its own. Errors: QUIRE_BAD_ARGUMENT in a feed paged by ids. [any] Since 0.1
 */
quire_status quire_push(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch,
    const quire_answer *QUIRE_NONNULL answer, const uint64_t *QUIRE_NULLABLE number,
    quire_bytes follows, quire_outcome *QUIRE_NONNULL out_outcome);

/*
 * States that from now on the server pushes every new post on top. Refresh after this call; then no push opens a
 * gap.
 * after: the number of the last message before, NULL if messages have none. batch: NULL is a commit of its own.
 * [any] Since 0.1
 */
quire_status quire_begin_live(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch,
    const uint64_t *QUIRE_NULLABLE after);

/*
 * States that the server no longer pushes new posts, because the connection has ended. It changes nothing if
 * messages have numbers: the numbers show which messages were missed.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_end_live(quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch);

/* ---- 9. Crawls: pages fetched before, without tickets ---------------------------------------------- */

/*
 * The position of a crawl. Pages have numbers. Page n leads to page n + 1 unless its answer has a link of its own.
 * Pages may come in any order, and some may be missing. A crawl lives in memory and belongs to one feed.
 */
typedef struct quire_crawl quire_crawl;

/* Where the first page of a crawl lies. */
enum {
    /* The page with number `start` is a refresh. */
    QUIRE_CRAWL_HEAD = 1,
    /* The crawl goes on below the last post. `start` is 0. */
    QUIRE_CRAWL_TAIL = 2,
    /*
     * The crawl goes on below the post above the gap with number `start`. If the gap has closed before a page was
     * taken in, pages are stale.
     */
    QUIRE_CRAWL_GAP = 3
};

/* Any page number is below this, except the one that means "the page after the one before". */
#define QUIRE_PAGE_LIMIT 2147483647
#define QUIRE_PAGE_FOLLOWING UINT64_MAX

/* Starts a crawl into a feed. [any] Since 0.1 */
quire_status quire_crawl_begin(
    quire_feed *QUIRE_NONNULL feed, int32_t kind, uint64_t start,
    quire_crawl *QUIRE_NULLABLE *QUIRE_NONNULL out_crawl);

/* Releases the crawl; its pages stay in the feed. [any] Since 0.1 */
void quire_crawl_end(quire_crawl *QUIRE_NULLABLE crawl);

/*
 * Stores a page of a crawl. The crawl advances when the page is committed. A batch that is undone undoes this
 * too. QUIRE_BAD_ARGUMENT in a feed of ids: the list is the answer to a plan of the head.
 * page: its number, or QUIRE_PAGE_FOLLOWING. batch: NULL is a commit of its own. [one] Since 0.1
 */
quire_status quire_crawl_ingest(
    quire_crawl *QUIRE_NONNULL crawl, quire_batch *QUIRE_NULLABLE batch, uint64_t page,
    const quire_answer *QUIRE_NONNULL answer, quire_outcome *QUIRE_NONNULL out_outcome);

/* ---- 10. Posts and attributes ---------------------------------------------------------------------- */

/*
 * Tells for each post whether the feed holds it: out_flags gets 1 or 0 for each id, in the same order. It must
 * have room for ids.count bytes. [any] Since 0.1
 */
quire_status quire_contains(
    quire_feed *QUIRE_NONNULL feed, quire_ids ids, uint8_t *QUIRE_NULLABLE out_flags);

/* The result of an update. */
enum {
    QUIRE_UPDATE_CHANGED = 1,
    QUIRE_UPDATE_SAME = 2,
    /* The stored body has a larger version, or is of more detail. */
    QUIRE_UPDATE_STALE = 3,
    /* No feed of the collection holds the post. */
    QUIRE_UPDATE_MISSING = 4
};

/*
 * Replaces the body of a post in every feed that shows it, unless the stored one has a larger version or is of
 * more detail. collection: of the post; see quire_feed_options. version: NULL counts as the newest.
 * detail: how much of the post it is, QUIRE_DETAIL_FULL at most. batch: NULL is a commit of its own.
 * [any] Since 0.1
 */
quire_status quire_update_body(
    quire_cache *QUIRE_NONNULL cache, quire_batch *QUIRE_NULLABLE batch, quire_bytes collection,
    quire_bytes id, quire_bytes body, const int64_t *QUIRE_NULLABLE version, uint32_t detail,
    int32_t *QUIRE_NONNULL out_result);

/* A named value of a post, kept beside its body. */
typedef struct quire_field {
    quire_bytes name;
    quire_bytes value;
} quire_field;

/*
 * Sets named values of a post, such as a like count. Each has a version of its own; a value with a smaller
 * version does not overwrite it. Each name may occur once.
 * collection: of the post; see quire_feed_options. batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_update_fields(
    quire_cache *QUIRE_NONNULL cache, quire_batch *QUIRE_NULLABLE batch, quire_bytes collection,
    quire_bytes id, const quire_field *QUIRE_NULLABLE fields, size_t count, int64_t version,
    int32_t *QUIRE_NONNULL out_result);

/* The result of joining two ids of one post. */
enum {
    /* The two posts were cached; they are one now. */
    QUIRE_ALIAS_UNITED = 1,
    /* No post was cached under the other id. The alias is known from now on. */
    QUIRE_ALIAS_NOTED = 2,
    /* They were one post already. */
    QUIRE_ALIAS_SAME = 3,
    /* No feed is in the collection, or the feed has no such local post. */
    QUIRE_ALIAS_MISSING = 4
};

/*
 * `alias` is another id of the post `id` of a collection. From now on the post is known by `id`, and every `alias`
 * in an answer, a ticket or a call is replaced by it. If both are cached, they become one post, in all feeds of the
 * collection. *out_result gets a QUIRE_ALIAS_ number. The alias is known as long as the collection
 * exists. collection: of the post; see quire_feed_options. batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_add_alias(
    quire_cache *QUIRE_NONNULL cache, quire_batch *QUIRE_NULLABLE batch, quire_bytes collection,
    quire_bytes alias, quire_bytes id, int32_t *QUIRE_NONNULL out_result);

/*
 * Removes a post from the feed because it was deleted on the server. No gap opens, and answers to requests
 * planned before do not bring it back. An unknown id is remembered too.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_delete(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id);

/*
 * Forgets posts to save space; a gap opens in their place. Pinned posts stay. *out_count gets the number of posts
 * that left.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_evict(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_ids ids,
    uint64_t *QUIRE_NONNULL out_count);

/*
 * Evicts the page with this index, 0 is the topmost; always a commit of its own.
 * Errors: QUIRE_NOT_FOUND. [any] Since 0.1
 */
quire_status quire_evict_page(
    quire_feed *QUIRE_NONNULL feed, uint64_t index, uint64_t *QUIRE_NONNULL out_count);

/*
 * Tells which posts of the feed are on the screen of this process: the budget takes no page with one of them, and
 * first what is farthest from them. They replace those named before; none is none. It writes nothing, and does
 * nothing in a cache without a budget. [any] Since 0.1
 */
quire_status quire_set_visible(quire_feed *QUIRE_NONNULL feed, quire_ids ids);

/*
 * A pinned post is never evicted or removed by an answer. Errors: QUIRE_NOT_FOUND if the feed lacks it;
 * this does not end a batch. batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_pin(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id);

/* Takes the pin away. Errors and batch: as quire_pin(). [any] Since 0.1 */
quire_status quire_unpin(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id);

/*
 * Puts an optimistic post on top of the feed until the server shows it, or until quire_remove_local().
 * *out_done gets 0 if the feed holds it already.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_insert_local(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id,
    quire_bytes body, int32_t *QUIRE_NONNULL out_done);

/*
 * Removes an optimistic post that was given up, or that arrives under its server's id. To keep its place, its pin
 * and its fields, call quire_confirm_local() instead. *out_done gets 0 if the feed has no such local post.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_remove_local(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id,
    int32_t *QUIRE_NONNULL out_done);

/*
 * The server has accepted an optimistic post and calls it `server_id`. From now on this is its id. Its place, its pin,
 * its body and its fields stay, and it remains a local post until the server shows it. If an answer has brought the
 * server's post already, the two become one, at the place that the server gave. *out_result gets a QUIRE_ALIAS_
 * number, QUIRE_ALIAS_MISSING if the feed has no such local post. batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_confirm_local(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes id, quire_bytes server_id,
    int32_t *QUIRE_NONNULL out_result);

/*
 * Forgets everything in the feed; every outstanding ticket becomes stale.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_reset(quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch);

/*
 * Removes the feed and its posts. Posts that other feeds of its collection hold stay there. The handle must still
 * be closed. This and all other handles of the feed find nothing from then on. Writing returns QUIRE_NOT_FOUND, and
 * answers to requests planned before are stale.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_feed_drop(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch);

/*
 * Gives the feed a name that no other feed has. Posts, tickets, handles and the collection stay.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_feed_rename(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes name);

/*
 * Gives a feed without posts other options, also another collection. The feed begins anew: its attributes are
 * forgotten, older handles are those of a dropped feed, and out_feed is a handle of the new feed.
 * Errors: QUIRE_OPTIONS_DIFFER if it holds posts. [any] Since 0.1
 */
quire_status quire_feed_set_options(
    quire_feed *QUIRE_NONNULL feed, const quire_feed_options *QUIRE_NONNULL options,
    quire_feed *QUIRE_NULLABLE *QUIRE_NONNULL out_feed);

/* The most bytes of an attribute's value. Its name has at most QUIRE_NAME_LIMIT. */
#define QUIRE_ATTRIBUTE_LIMIT 65536

/*
 * Remembers a value about the feed under a name (UTF-8): when it may be asked again, an ETag. The engine
 * gives these no meaning; quire_reset() keeps them. Read it with quire_get_attribute().
 * value: NULL forgets it. batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_set_attribute(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch, quire_bytes name,
    const quire_bytes *QUIRE_NULLABLE value);

/* ---- 11. Prune ------------------------------------------------------------------------------------- */

/* Flags of quire_prune_policy: what to do, and which limits apply. */
enum {
    /* Forget every segment but the top one, unless one of its posts is pinned or visible. */
    QUIRE_PRUNE_OUT_OF_SEQUENCE = 1,
    QUIRE_PRUNE_BY_AGE = 2,
    QUIRE_PRUNE_BY_POSTS = 4,
    QUIRE_PRUNE_BY_PAGES = 8,
    QUIRE_PRUNE_BY_BYTES = 16,
    /* Say what would be done, without doing it. Not in a batch, and not in a cache open for reading only. */
    QUIRE_PRUNE_DRY_RUN = 32
};

/* What to forget. Whole pages leave, and gaps open in their place. Pages with pinned or visible posts stay. */
typedef struct quire_prune_policy {
    uint32_t struct_size;
    uint32_t flags;
    /* BY_AGE: forget pages received more than this many milliseconds before now. Not negative. */
    int64_t maximum_age;
    /* BY_AGE: the caller's clock, in milliseconds since 1970. */
    int64_t now;
    /* Maximum posts, pages, bytes of bodies to keep. Pages outside the top segment leave first. */
    uint64_t maximum_posts;
    uint64_t maximum_pages;
    uint64_t maximum_bytes;
    /* Posts on the screen: their pages stay. */
    quire_ids visible;
    /* Stop after this many posts; call again to continue. 0 is 10,000. At least one page leaves. */
    uint64_t budget;
} quire_prune_policy;

#define QUIRE_PRUNE_POLICY_INIT                                                                     \
    { sizeof(quire_prune_policy), 0, 0, 0, 0, 0, 0, { NULL, 0 }, 0 }

typedef struct quire_prune_result {
    uint32_t struct_size;
    /* 1: the policy is met, or nothing more may leave. 0: call again. */
    int32_t is_done;
    /* Pages whose posts left, and those posts. */
    uint64_t pages;
    uint64_t posts;
} quire_prune_result;

#define QUIRE_PRUNE_RESULT_INIT { sizeof(quire_prune_result), 0, 0, 0 }

/*
 * Forgets pages until the policy is met or its budget is spent.
 * batch: NULL is a commit of its own. [any] Since 0.1
 */
quire_status quire_prune(
    quire_feed *QUIRE_NONNULL feed, quire_batch *QUIRE_NULLABLE batch,
    const quire_prune_policy *QUIRE_NONNULL policy, quire_prune_result *QUIRE_NONNULL out_result);

/* ---- 12. Snapshots: reading ------------------------------------------------------------------------ */

/*
 * One consistent state of the whole cache, also while others write. Do not keep one open for long: writers
 * cannot reuse the space that it sees, and the file cannot grow past its map. See
 * quire_cache_options.maximum_snapshot_age.
 */
typedef struct quire_snapshot quire_snapshot;

/*
 * Opens a snapshot of the last commit. Errors: QUIRE_SNAPSHOTS_OPEN if another process made the file larger than this
 * process has mapped it, and other snapshots stay open in this process meanwhile: the call waits 5 seconds for them.
 * [any] Since 0.1
 */
quire_status quire_snapshot_begin(
    quire_cache *QUIRE_NONNULL cache, quire_snapshot *QUIRE_NULLABLE *QUIRE_NONNULL out_snapshot);

/* Ends the snapshot, on any thread. All bytes read from it become invalid. [one] Since 0.1 */
void quire_snapshot_end(quire_snapshot *QUIRE_NULLABLE snapshot);

/* Number of commits that the snapshot sees. [one] Since 0.1 */
quire_status quire_snapshot_generation(
    quire_snapshot *QUIRE_NONNULL snapshot, uint64_t *QUIRE_NONNULL out_generation);

/* The description and the totals of a feed. */
typedef struct quire_feed_info {
    uint32_t struct_size;
    /* The number by which quire_change names the feed. */
    uint32_t number;
    quire_bytes name;
    /* Its options; see quire_feed_options. */
    int32_t order;
    int32_t paging;
    uint32_t flags;
    uint32_t page_size;
    uint32_t minimum_run;
    uint32_t first_page;
    quire_ids sticky;
    /* Posts of the server's sequence, and posts outside of it. */
    uint64_t posts;
    uint64_t detached;
    /* Posts whose place is known and whose body is missing. */
    uint64_t placeholders;
    uint64_t pages;
    uint64_t gaps;
    /* Joins that only the server's numbering claims. */
    uint64_t unverified_joins;
    /* Bytes of the bodies it shows. */
    uint64_t body_bytes;
    /* QUIRE_LINK_END if nothing lies above the first post, else what continues there. */
    quire_link head;
    /* What continues below the last post. */
    quire_link tail;
    /* Always 0; here for programs that were built with an older header. */
    int64_t drift;
    /* 1: no post is known to be missing: there is no gap, and the head is closed. The tail may go on. */
    int32_t is_in_sequence;
    /* 1: the end of the feed was concluded from answers; the server did not state it. */
    int32_t is_end_assumed;
    /* Options too; see quire_feed_options. */
    quire_bytes collection;
    int32_t sizes;
    uint32_t rows_per_page;
    /* The policy that holds: `sizes`, or QUIRE_SIZES_UNKNOWN once an answer has disproved it. */
    int32_t sizes_now;
    /* Rows of a server's page as far as that is known: stated, or learned; 0 if it is not. */
    uint32_t rows_known;
    /* Number of answers that showed known posts in an order that the feed's class forbids. */
    uint64_t answers_against_order;
} quire_feed_info;

#define QUIRE_FEED_INFO_INIT                                                                        \
    {                                                                                               \
        sizeof(quire_feed_info), 0, { NULL, 0 }, 0, 0, 0, 0, 0, 0, { NULL, 0 }, 0, 0, 0, 0, 0, 0, 0, \
            { 0, 0, { NULL, 0 } }, { 0, 0, { NULL, 0 } }, 0, 0, 0, { NULL, 0 },                     \
            0, 0, 0, 0, 0                                                                           \
    }

/* Its name and options live as long as the snapshot. [one] Since 0.1 */
quire_status quire_feed_get_info(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    quire_feed_info *QUIRE_NONNULL out_info);

/* The position of a row in one snapshot. It means nothing in another one. */
typedef struct quire_position {
    uint64_t opaque[2];
} quire_position;

enum {
    /* A post. */
    QUIRE_ROW_POST = 1,
    /* Posts may be missing here. */
    QUIRE_ROW_GAP = 2,
    /* Only of quire_merge_read(): posts may be missing above the first one of the feed; `up` leads there. */
    QUIRE_ROW_HEAD = 3,
    /* Only of quire_merge_read(): the feed goes on below its last post; `down` leads there. */
    QUIRE_ROW_TAIL = 4
};

/* Flags of quire_row. */
enum {
    QUIRE_ROW_HAS_KEY = 1,
    /* A page delivered it, and `page` is its number. */
    QUIRE_ROW_HAS_PAGE = 2,
    /* Not part of the server's sequence: a local post, a sticky one, a pinned one that left. */
    QUIRE_ROW_DETACHED = 4,
    QUIRE_ROW_PINNED = 8,
    /* Its place is known, its body is missing. */
    QUIRE_ROW_PLACEHOLDER = 16,
    /* Nothing proves that it follows the post above, mostly only the server's numbering: see quire_row.why. */
    QUIRE_ROW_UNVERIFIED = 32,
    /* A newer version was seen, but only with less detail: ask for its body (QUIRE_PLACE_BODIES). */
    QUIRE_ROW_OUTDATED = 64,
    /* The body is not all of the post; quire_post_get_info() says how much. */
    QUIRE_ROW_PARTIAL = 128,
    /*
     * The page above the join to the post above was asked for again and ended at the same post
     * (QUIRE_PLACE_JOIN). That proves little: as many posts may have been added as removed in between.
     */
    QUIRE_ROW_CHECKED = 256,
    /* The id is the number `id_number`, and `id_text` is empty. */
    QUIRE_ROW_NUMERIC_ID = 512
};

/* Why posts may be missing at a gap, or why nothing proves that a post follows the one above it. */
enum {
    /* The posts here were never requested. */
    QUIRE_DOUBT_UNFETCHED = 1,
    /* Posts were evicted here. */
    QUIRE_DOUBT_EVICTED = 2,
    /* The server said that nothing follows, although posts were cached below. */
    QUIRE_DOUBT_END_IN_DOUBT = 3,
    /* The answer to a jump ends here. */
    QUIRE_DOUBT_JUMP = 4,
    /* A page of a crawl is missing here. */
    QUIRE_DOUBT_MISSING_PAGE = 5,
    /* The join was tested (QUIRE_PLACE_JOIN), and the answer contradicted it. */
    QUIRE_DOUBT_CONTRADICTION = 6,
    /* The numbers of the pages have moved under the join. */
    QUIRE_DOUBT_DRIFT = 7,
    /* Only the server's numbering joins these two. */
    QUIRE_DOUBT_NUMBERING = 8,
    /* A post left here against the order class of the feed. */
    QUIRE_DOUBT_DISORDER = 9,
    /* The server showed a post here that could not be placed. */
    QUIRE_DOUBT_UNPLACED = 10,
    /* A message brought newer posts, but does not prove that nothing lies between. */
    QUIRE_DOUBT_MISSED = 11,
    /* The posts here were lost with a damaged file. */
    QUIRE_DOUBT_DAMAGE = 12
};

/* The name of a doubt, such as "missing-page"; "unknown" for other numbers. [any] Since 0.1 */
const char *QUIRE_NONNULL quire_doubt_name(int32_t doubt);

/* A row of a feed: a post, or a gap. */
typedef struct quire_row {
    int32_t kind;
    uint32_t flags;
    quire_position position;
    /*
     * Posts: the id. Most servers count their posts, so an id that is the decimal text of a number below 2^64,
     * without a leading zero, is that number, and QUIRE_ROW_NUMERIC_ID is set. Any other id is `id_text`.
     * quire_row_id() gives the text of both.
     */
    uint64_t id_number;
    quire_bytes id_text;
    /* Posts: the body as received. */
    quire_bytes body;
    int64_t key;
    /* Posts: number of the page that last delivered it. */
    uint64_t page;
    /* Gaps: its number within the feed, never used again after it has closed. */
    uint64_t gap;
    /* Gaps: what continues below the post above, and above the post below. */
    quire_link down;
    quire_link up;
    /* Gaps: how many posts of the server's sequence the segment above has. */
    uint64_t posts_above;
    /* Gaps, and posts with QUIRE_ROW_UNVERIFIED: why, one of QUIRE_DOUBT_; else 0. */
    int32_t why;
    int32_t reserved;
    /*
     * Gaps: the clock of the change that opened it, larger is later. It counts requests, deletions and answers of
     * the cache.
     */
    uint64_t since;
} quire_row;

/* How many bytes the text of a numeric id has at most. */
#define QUIRE_DIGITS 20

/*
 * The id of a row as text: what functions take that ask for an id. That of a number is written to `digits`, which
 * has room for QUIRE_DIGITS bytes, and is valid as long as they are; any other is row->id_text. No bytes for a gap.
 *
 *     char digits[QUIRE_DIGITS];
 *     quire_bytes id = quire_row_id(&rows[i], digits);
 *     printf(QUIRE_BYTES_FMT, QUIRE_BYTES_ARG(id));
 *
 * row, digits: NULL gives no bytes. [any] Since 0.1
 */
quire_bytes quire_row_id(const quire_row *QUIRE_NULLABLE row, char *QUIRE_NULLABLE digits);

/*
 * Fills rows with up to `capacity` rows of the feed, top first, below a position. *out_count gets their
 * number. If it is less than capacity, the bottom is reached.
 * after: NULL is the top. rows: NULL if capacity is 0. [one] Since 0.1
 */
quire_status quire_read_after(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    const quire_position *QUIRE_NULLABLE after, quire_row *QUIRE_NULLABLE rows, size_t capacity,
    size_t *QUIRE_NONNULL out_count);

/*
 * The same upwards: rows above a position, the nearest first.
 * before: NULL is the bottom. [one] Since 0.1
 */
quire_status quire_read_before(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    const quire_position *QUIRE_NULLABLE before, quire_row *QUIRE_NULLABLE rows, size_t capacity,
    size_t *QUIRE_NONNULL out_count);

/* The gaps below a position (NULL: all), topmost first, in the same way. [one] Since 0.1 */
quire_status quire_read_gaps(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    const quire_position *QUIRE_NULLABLE after, quire_row *QUIRE_NULLABLE rows, size_t capacity,
    size_t *QUIRE_NONNULL out_count);

/*
 * The rank of a row is the number of rows above it, gaps included: its index in a list that shows them
 * all. The topmost row has rank 0. The page index of the cache finds a row by its rank, and a rank by its
 * row, in a time that hardly grows with the feed.
 */

/*
 * Fills rows with up to `capacity` rows of the feed, top first, from a rank on. *out_count gets their
 * number; 0 if the feed has no row of this rank. To continue, pass the position of the last one to quire_read_after().
 * rows: NULL if capacity is 0. [one] Since 0.1
 */
quire_status quire_read_from_rank(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, uint64_t rank,
    quire_row *QUIRE_NULLABLE rows, size_t capacity, size_t *QUIRE_NONNULL out_count);

/* Number of rows of the feed, posts and gaps. [one] Since 0.1 */
quire_status quire_row_count(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    uint64_t *QUIRE_NONNULL out_count);

/*
 * The rank of a row that was read from this snapshot. The difference of two ranks is the number of rows by
 * which one is below the other. [one] Since 0.1
 */
quire_status quire_rank_of_row(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    const quire_position *QUIRE_NONNULL position, uint64_t *QUIRE_NONNULL out_rank);

/* The rank of a post by its id. Errors: QUIRE_NOT_FOUND if the feed does not hold it. [one] Since 0.1 */
quire_status quire_rank_of_post(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, quire_bytes id,
    uint64_t *QUIRE_NONNULL out_rank);

/*
 * The rank of the first post whose key is `key` or lower: a list that jumps to a date opens there. If all keys are
 * larger, it is the number of rows. Posts with QUIRE_ROW_DETACHED do not count. Where the server contradicted the order
 * and keys do not descend, a post with such a key may also be above that row.
 * Errors: QUIRE_BAD_ARGUMENT unless the order of the feed is QUIRE_ORDER_STABLE or QUIRE_ORDER_BUMP; QUIRE_NOT_FOUND
 * if it was dropped. [one] Since 0.1
 */
quire_status quire_rank_of_key(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, int64_t key,
    uint64_t *QUIRE_NONNULL out_rank);

/* Several feeds that are read as one list, the highest key first. */
typedef struct quire_merge quire_merge;

/*
 * Begins to read feeds as one list: the timeline of all accounts, the newest items of all subscriptions.
 *
 *     quire_merge *merge = NULL;
 *     quire_merge_begin(snapshot, feeds, 2, NULL, &merge);
 *     quire_merge_read(merge, rows, sources, 50, &count);
 *     if (count > 0 && rows[count - 1].kind != QUIRE_ROW_POST) ... feed sources[count - 1] holds the list back
 *     quire_merge_end(merge);
 *
 * A post is never above one that precedes it in its own feed. Of equal keys, that of the feed named first comes
 * first. A post that several of the feeds hold is shown once, where its key is highest.
 * feeds: of the snapshot's cache, none twice; QUIRE_ORDER_STABLE or QUIRE_ORDER_BUMP. NULL if count is 0.
 * from_key: NULL begins at the top; else each feed begins at its quire_rank_of_key(). [one] Since 0.1
 */
quire_status quire_merge_begin(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL const *QUIRE_NULLABLE feeds, size_t count,
    const int64_t *QUIRE_NULLABLE from_key, quire_merge *QUIRE_NULLABLE *QUIRE_NONNULL out_merge);

/*
 * Fills rows with the next rows of the list, up to `capacity`, and sources with the index of each row's feed.
 * *out_count gets their number; 0 is the end of the list. A read ends at a frontier, that is at a row which is not a
 * QUIRE_ROW_POST: there a feed may get posts, and such a post may belong above all that follows. The next read goes
 * on below it, for a program that wants that.
 * rows, sources: NULL if capacity is 0; sources may be NULL. The rows live as long as the snapshot, and are read
 * from it: after quire_snapshot_end() this returns QUIRE_BAD_HANDLE. [one] Since 0.1
 */
quire_status quire_merge_read(
    quire_merge *QUIRE_NONNULL merge, quire_row *QUIRE_NULLABLE rows, uint32_t *QUIRE_NULLABLE sources,
    size_t capacity, size_t *QUIRE_NONNULL out_count);

/* Ends the reading; the rows stay valid. [any] Since 0.1 */
void quire_merge_end(quire_merge *QUIRE_NULLABLE merge);

/* A page as stored: one accepted response. */
typedef struct quire_page {
    /* Its number; counts up, never reused. */
    uint64_t number;
    /* Its rank among the pages of the feed in this snapshot, 0 is the topmost. */
    uint64_t index;
    /* The link that was requested, and those that came with it. */
    quire_link own;
    quire_link next;
    quire_link previous;
    /* Posts received; how many were new, known already, repeated within the page. */
    uint64_t received;
    uint64_t added;
    uint64_t duplicates;
    uint64_t duplicates_in_page;
    /* Posts it still has. */
    uint64_t posts;
    /* When it was received, in milliseconds since 1970. */
    int64_t fetched_at;
    /* 1: all of its posts were new. */
    int32_t is_full;
    int32_t reserved;
} quire_page;

/*
 * Fills pages with up to `capacity` pages of the feed, from an index on; a capacity of 1 is the page with
 * this index. The page index finds it, as it finds rows by their rank. *out_count gets their number; 0 if
 * there is no such page. pages: NULL if capacity is 0. [one] Since 0.1
 */
quire_status quire_read_pages(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, uint64_t index,
    quire_page *QUIRE_NULLABLE pages, size_t capacity, size_t *QUIRE_NONNULL out_count);

/*
 * Fills rows with the posts that page `number` still has, in order, from post `first` on (0 is its
 * first). A page that does not exist has none. rows: NULL if capacity is 0. [one] Since 0.1
 */
quire_status quire_read_page(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, uint64_t number,
    size_t first, quire_row *QUIRE_NULLABLE rows, size_t capacity,
    size_t *QUIRE_NONNULL out_count);

/* The post in its place in the feed. Errors: QUIRE_NOT_FOUND. [one] Since 0.1 */
quire_status quire_find(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, quire_bytes id,
    quire_row *QUIRE_NONNULL out_row);

/* The record of a post. All feeds of its collection share it. */
typedef struct quire_post_info {
    uint32_t struct_size;
    /* 1: it has a version. */
    int32_t has_version;
    int64_t version;
    /* Number of feeds of its collection that hold it. */
    uint64_t feeds;
    quire_bytes body;
    /* Values that were updated one by one, by name. */
    const quire_field *QUIRE_NULLABLE fields;
    size_t field_count;
    /* How much of the post its body holds. */
    uint32_t detail;
    /* 1: a newer version was seen, but only with less detail. */
    int32_t is_outdated;
} quire_post_info;

#define QUIRE_POST_INFO_INIT { sizeof(quire_post_info), 0, 0, 0, { NULL, 0 }, NULL, 0, 0, 0 }

/*
 * The record of a post of a collection; see quire_feed_options.
 * Errors: QUIRE_NOT_FOUND if no feed of the collection holds it. [one] Since 0.1
 */
quire_status quire_post_get_info(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_bytes collection, quire_bytes id,
    quire_post_info *QUIRE_NONNULL out_info);

/* The value that quire_set_attribute() stored. Errors: QUIRE_NOT_FOUND. [one] Since 0.1 */
quire_status quire_get_attribute(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed, quire_bytes name,
    quire_bytes *QUIRE_NONNULL out_value);

/* ---- 13. Changes ----------------------------------------------------------------------------------- */

/* Number of commits made so far, by all processes. [any] Since 0.1 */
quire_status quire_generation(
    quire_cache *QUIRE_NONNULL cache, uint64_t *QUIRE_NONNULL out_generation);

/*
 * Waits, in the calling thread, until all processes together have made more than `since` commits. *out_now
 * gets the number of commits, also on QUIRE_TIMEOUT. The call polls the file at growing intervals of at most
 * 10 ms, so it needs no message from the writer. With 0 ms it looks once.
 * Errors: QUIRE_TIMEOUT; QUIRE_BAD_HANDLE if the handle is closed meanwhile. [any] Since 0.1
 */
quire_status quire_wait(
    quire_cache *QUIRE_NONNULL cache, uint64_t since, uint32_t timeout_ms,
    uint64_t *QUIRE_NONNULL out_now);

/* The kind of a change. */
enum {
    /* The row is now directly below another one, at the top if below_kind is 0. */
    QUIRE_CHANGE_INSERTED = 1,
    QUIRE_CHANGE_REMOVED = 2,
    /*
     * The post's body or fields changed; its place did not. Flags that change alone (pinned, detached, unverified) are
     * not in the log; quire_window_update() tells of them.
     */
    QUIRE_CHANGE_UPDATED = 3,
    /* The feed was reset, or changed too much to list: read it anew. */
    QUIRE_CHANGE_RESET = 4
};

/* One difference between two states of a feed. Applied in order, they lead from one to the other. */
typedef struct quire_change {
    /* The commit, and the feed by quire_feed_info.number. */
    uint64_t generation;
    uint32_t feed;
    int32_t kind;
    /* The row: QUIRE_ROW_POST with its id, or QUIRE_ROW_GAP with its number. 0 for a reset. */
    int32_t row_kind;
    /* Inserted: the row directly above. */
    int32_t below_kind;
    quire_bytes id;
    uint64_t gap;
    quire_bytes below_id;
    uint64_t below_gap;
} quire_change;

/*
 * The changes of each commit after `since`, oldest first, up to the commit that the snapshot sees. The array
 * lives until the snapshot ends. A second call with the same `since` returns the same array and takes no memory.
 * Errors: QUIRE_RESYNC if the log, which holds the last 1,024 commits, does not reach back that far, or if the
 * snapshot does not see commit `since` yet: it is from a newer state of the cache, or from another cache.
 * [one] Since 0.1
 */
quire_status quire_changes_since(
    quire_snapshot *QUIRE_NONNULL snapshot, uint64_t since,
    const quire_change *QUIRE_NULLABLE *QUIRE_NONNULL out_changes, size_t *QUIRE_NONNULL out_count);

/* ---- 14. Windows: the rows that a screen holds ----------------------------------------------------- */

/*
 * Some consecutive rows of a feed. A window opens anywhere and keeps its place while rows come and go elsewhere:
 *
 *     quire_window_start start = QUIRE_WINDOW_START_INIT;
 *     start.kind = QUIRE_START_RANK;
 *     start.rank = 500000;
 *     quire_window_open(snapshot, feed, &start, &window);
 *     ... after a commit, with a new snapshot ...
 *     quire_difference difference = QUIRE_DIFFERENCE_INIT;
 *     quire_window_update(window, snapshot, &difference);   (what to change in a list)
 *     quire_window_read(window, snapshot, 0, rows, 101, &count);
 *
 * It holds the anchor, which is the row that the reader looks at, and a number of rows above and below it. It
 * always is that slice of the rows of one commit, gaps among them. The anchor stays the anchor however many rows
 * come above it. If it leaves, or the server moves it, the nearest row of the window that stayed where it was takes
 * its part, first one below. A window is used by one thread at a time, and keeps no snapshot open.
 */
typedef struct quire_window quire_window;

/* Where a window opens. */
enum {
    /* The first row: the window follows the head until quire_window_look() names a row. */
    QUIRE_START_HEAD = 0,
    /* The post whose id is the first of ids; QUIRE_NOT_FOUND if the feed does not hold it. */
    QUIRE_START_POST = 1,
    /* The first post of ids that the feed holds, else the head: what quire_window_nearest() gave once. */
    QUIRE_START_NEAREST = 2,
    /*
     * The first post of the server's sequence whose key is this one or lower, else the last row. QUIRE_BAD_ARGUMENT
     * unless the order of the feed is QUIRE_ORDER_STABLE or QUIRE_ORDER_BUMP.
     */
    QUIRE_START_KEY = 3,
    /* The row of this rank, else the last row. */
    QUIRE_START_RANK = 4
};

/* The largest number of rows above the anchor, and below it. */
#define QUIRE_WINDOW_LIMIT 1048576

typedef struct quire_window_start {
    uint32_t struct_size;
    int32_t kind;
    /* QUIRE_START_POST, QUIRE_START_NEAREST. */
    quire_ids ids;
    /* QUIRE_START_KEY. */
    int64_t key;
    /* QUIRE_START_RANK. */
    uint64_t rank;
    /* The largest number of rows held above and below the anchor, at most QUIRE_WINDOW_LIMIT. */
    uint32_t above;
    uint32_t below;
} quire_window_start;

#define QUIRE_WINDOW_START_INIT { sizeof(quire_window_start), QUIRE_START_HEAD, { NULL, 0 }, 0, 0, 50, 50 }

/*
 * Opens a window over the rows that the snapshot sees.
 * start: NULL is the head.
 * Errors: QUIRE_NOT_FOUND for QUIRE_START_POST; for QUIRE_START_KEY as quire_rank_of_key().
 * [one] Since 0.1
 */
quire_status quire_window_open(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_feed *QUIRE_NONNULL feed,
    const quire_window_start *QUIRE_NULLABLE start, quire_window *QUIRE_NULLABLE *QUIRE_NONNULL out_window);

/* Releases the handle. [any] Since 0.1 */
void quire_window_close(quire_window *QUIRE_NULLABLE window);

typedef struct quire_window_info {
    uint32_t struct_size;
    /* 1 while the window follows the head, and has no anchor. */
    int32_t is_following_head;
    /* The commit that the rows show. */
    uint64_t generation;
    /* The number of rows of the feed, those above the window, and those in it. */
    uint64_t row_count;
    uint64_t rank;
    uint64_t count;
    /* The index of the anchor among the rows of the window; 0 while it follows the head. */
    uint64_t anchor;
} quire_window_info;

#define QUIRE_WINDOW_INFO_INIT { sizeof(quire_window_info), 0, 0, 0, 0, 0, 0 }

/* What the window holds. [one] Since 0.1 */
quire_status quire_window_get_info(
    quire_window *QUIRE_NONNULL window, quire_window_info *QUIRE_NONNULL out_info);

/*
 * The reader looks at another row: moves the anchor. The next quire_window_update() reads the rows around it.
 *   index   of a row of the window; UINT64_MAX follows the head
 *   above, below   the largest number of rows held above and below it
 * [one] Since 0.1
 */
quire_status quire_window_look(
    quire_window *QUIRE_NONNULL window, uint64_t index, uint32_t above, uint32_t below);

/*
 * What changed in the rows of a window, as lists want it: remove the rows with the first indices, from the last to
 * the first; insert rows at the second, from the first to the last; draw the rows with the third anew. Each list
 * ascends. Rows that stayed are in neither of the first two.
 */
typedef struct quire_difference {
    uint32_t struct_size;
    int32_t reserved;
    /* Indices into the rows before. */
    const uint64_t *QUIRE_NULLABLE removed;
    size_t removed_count;
    /* Indices into the rows after. */
    const uint64_t *QUIRE_NULLABLE inserted;
    size_t inserted_count;
    /* Indices into the rows after: a body, a flag or a gap's link changed, or may have. */
    const uint64_t *QUIRE_NULLABLE updated;
    size_t updated_count;
} quire_difference;

#define QUIRE_DIFFERENCE_INIT { sizeof(quire_difference), 0, NULL, 0, NULL, 0, NULL, 0 }

/*
 * Follows the feed to the commit that the snapshot sees. The lists of the difference live until the snapshot ends. On
 * failure the window is as before. [one] Since 0.1
 */
quire_status quire_window_update(
    quire_window *QUIRE_NONNULL window, quire_snapshot *QUIRE_NONNULL snapshot,
    quire_difference *QUIRE_NONNULL out_difference);

/*
 * Reads rows of the window from an index on, up to `capacity`; as quire_read_after() fills them.
 * Errors: QUIRE_RESYNC if the snapshot sees another commit than the window shows: call quire_window_update().
 * [one] Since 0.1
 */
quire_status quire_window_read(
    quire_window *QUIRE_NONNULL window, quire_snapshot *QUIRE_NONNULL snapshot, uint64_t index,
    quire_row *QUIRE_NULLABLE rows, size_t capacity, size_t *QUIRE_NONNULL out_count);

/*
 * The ids of the posts of the window, nearest to the anchor first: stored, they are a place to open at
 * (QUIRE_START_NEAREST), even if the anchor has left by then. Free the list with quire_list_free().
 * [one] Since 0.1
 */
quire_status quire_window_nearest(
    quire_window *QUIRE_NONNULL window, quire_list *QUIRE_NONNULL out_ids);

/* ---- 15. Views: a part of a feed that is kept ------------------------------------------------------ */

/*
 * The posts of a feed that a callback chooses, in the order of the feed or in one of their own, with the
 * number of posts in each section. The cache keeps them: a commit that changes the feed changes its views
 * too.
 *
 *     int32_t is_unread(void *context, const quire_row *post, quire_view_entry *out_entry);
 *     ...
 *     quire_view_open(feed, name, NULL, is_unread, NULL, &view);
 *     quire_view_read_after(snapshot, view, NULL, rows, 20, &count);
 *
 * The rows are those of the feed: posts in their places there, and gaps. In the feed's order a view shows
 * one gap where gaps of the feed lie between two of its posts; load there, and the feed closes it. In a
 * view ordered by keys a missing post may belong anywhere: look at is_complete. The callback is no part of
 * the cache. A process that does not know it may write the feed nevertheless; the view then is not current,
 * and does not show the posts around that change, until a process opens it with the callback. Docs/views.md
 * says more.
 */
typedef struct quire_view quire_view;

/* How the posts of a view are ordered. */
enum {
    /* As in the feed. */
    QUIRE_VIEW_FEED = 1,
    /*
     * By section, key and id; smaller bytes come first. Of equal keys, ids that are decimal numbers come first, by
     * their value, then shorter ids before longer ones; those of more than 200 bytes come last, in any order.
     */
    QUIRE_VIEW_KEYS = 2
};

/*
 * Where a view shows a post. The bytes are borrowed until the thread calls the callback again. A callback cannot
 * fail, so nothing in an entry is an error: data that is NULL counts as no bytes, whatever its size is.
 */
typedef struct quire_view_entry {
    /* The section that counts it: up to 48 bytes; the others are dropped. */
    quire_bytes section;
    /* The place in a view ordered by keys: up to 96 bytes; the others do not count. */
    quire_bytes key;
} quire_view_entry;

/*
 * Decides whether a view shows a post: 1, or 0, as which any other number counts. The entry is zeroed before. It is
 * called inside commits, on the thread that writes, and by quire_check(), maybe on two threads at once. It must depend
 * on nothing but the post, of which it gets id, key, flags and body, and must not use the cache.
 */
typedef int32_t (*quire_view_callback)(
    void *QUIRE_NULLABLE context, const quire_row *QUIRE_NONNULL post,
    quire_view_entry *QUIRE_NONNULL out_entry);

/*
 * Called with the context of a callback that will not be called any more, on the thread that used it last: one
 * that closes the cache, removes the view or opens it anew, or ends a commit. It must not use the cache.
 */
typedef void (*quire_release_callback)(void *QUIRE_NULLABLE context);

typedef struct quire_view_options {
    uint32_t struct_size;
    int32_t order;
    /* Change this when the callback's decisions change: a view of another number is made anew. */
    uint64_t version;
    /* NULL: nothing is to be done. */
    quire_release_callback QUIRE_NULLABLE release;
} quire_view_options;

#define QUIRE_VIEW_OPTIONS_INIT { sizeof(quire_view_options), QUIRE_VIEW_FEED, 1, NULL }

/*
 * Opens a view for writing, and makes it if there is none: from now on this process keeps it, until it
 * closes the cache, also after quire_view_close(). The first time costs a look at each post of the feed.
 *   name      1 to 255 bytes of UTF-8; a feed has up to 255 views
 *   options   NULL is QUIRE_VIEW_OPTIONS_INIT
 *   context   passed to the callback
 * The context is released once, also if this fails. It is not released if the options cannot be read (their
 * struct_size), if out_view is NULL, or after a fork.
 * Errors: QUIRE_NOT_FOUND if the feed was dropped. [any] Since 0.1
 */
quire_status quire_view_open(
    quire_feed *QUIRE_NONNULL feed, quire_bytes name, const quire_view_options *QUIRE_NULLABLE options,
    quire_view_callback QUIRE_NONNULL callback, void *QUIRE_NULLABLE context,
    quire_view *QUIRE_NULLABLE *QUIRE_NONNULL out_view);

/*
 * Opens a view for reading, even if another process keeps it.
 * Errors: QUIRE_NOT_FOUND if the feed has none of this name. [any] Since 0.1
 */
quire_status quire_view_find(
    quire_feed *QUIRE_NONNULL feed, quire_bytes name, quire_view *QUIRE_NULLABLE *QUIRE_NONNULL out_view);

/* Releases the handle; the view stays. [any] Since 0.1 */
void quire_view_close(quire_view *QUIRE_NULLABLE view);

/* Removes a view from the cache. Sets `*out_done` to 0 if there is none of this name. [any] Since 0.1 */
quire_status quire_view_remove(
    quire_feed *QUIRE_NONNULL feed, quire_bytes name, int32_t *QUIRE_NONNULL out_done);

typedef struct quire_view_info {
    uint32_t struct_size;
    int32_t order;
    uint64_t version;
    uint64_t posts;
    /* 1 if it shows what its callback says of each post of the feed. */
    int32_t is_current;
    /* 1 if also no post is missing in the feed, as far as the server has said what there is. */
    int32_t is_complete;
} quire_view_info;

#define QUIRE_VIEW_INFO_INIT { sizeof(quire_view_info), 0, 0, 0, 0, 0 }

/* What a view shows. Errors: QUIRE_NOT_FOUND if it was removed. [one] Since 0.1 */
quire_status quire_view_get_info(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_view *QUIRE_NONNULL view,
    quire_view_info *QUIRE_NONNULL out_info);

/*
 * Reads rows of a view below one that this snapshot has read of it, up to `capacity`; as quire_read_after()
 * fills them.
 *   after   NULL is the top
 * Errors: QUIRE_NOT_FOUND if the view was removed. [one] Since 0.1
 */
quire_status quire_view_read_after(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_view *QUIRE_NONNULL view,
    const quire_position *QUIRE_NULLABLE after, quire_row *QUIRE_NULLABLE rows, size_t capacity,
    size_t *QUIRE_NONNULL out_count);

/*
 * Reads rows of a view from the post on that has this many posts of the view above it. Gaps do not count.
 * Errors: QUIRE_NOT_FOUND if the view was removed. [one] Since 0.1
 */
quire_status quire_view_read_from_rank(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_view *QUIRE_NONNULL view, uint64_t rank,
    quire_row *QUIRE_NULLABLE rows, size_t capacity, size_t *QUIRE_NONNULL out_count);

/* A section of a view. */
typedef struct quire_view_section {
    /* As the callback said. Lives until the snapshot ends. */
    quire_bytes name;
    uint64_t posts;
    /* The number of posts in the sections before it. */
    uint64_t rank;
} quire_view_section;

/*
 * Where a view shows a post: the section, with its number of posts and, as `rank`, the number of posts of
 * the view above this one.
 * Errors: QUIRE_NOT_FOUND if it does not show it, or was removed. [one] Since 0.1
 */
quire_status quire_view_find_post(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_view *QUIRE_NONNULL view, quire_bytes id,
    quire_view_section *QUIRE_NONNULL out_place);

/*
 * The sections of a view, by their bytes, without the first `skip` of them, up to `capacity`.
 * Errors: QUIRE_NOT_FOUND if the view was removed. [one] Since 0.1
 */
quire_status quire_view_sections(
    quire_snapshot *QUIRE_NONNULL snapshot, quire_view *QUIRE_NONNULL view, uint64_t skip,
    quire_view_section *QUIRE_NULLABLE sections, size_t capacity, size_t *QUIRE_NONNULL out_count);

#ifdef QUIRE_POP_DIAGNOSTIC
#pragma clang diagnostic pop
#undef QUIRE_POP_DIAGNOSTIC
#endif

#ifdef __cplusplus
}
#endif

#endif

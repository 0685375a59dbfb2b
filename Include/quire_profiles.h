/*
 * quire_profiles.h - responses to answers, by profile: programs need no parser of their own. This file is the
 * manual of the library quire-profiles.
 *
 * A profile says as data where things are in the responses of one API: the items, their ids and keys, the links
 * to the next page. Some come with the library; Docs/profiles.md says how to write one. quire_parse() makes of
 * a response what quire_ingest(), quire_push() and quire_crawl_ingest() take.
 *
 *     quire_profile *profile = NULL;
 *     quire_profile_open(name, NULL, &profile);            (name: "github", or the JSON of a profile)
 *
 *     quire_response response = QUIRE_RESPONSE_INIT;       (what the server sent)
 *     response.body = body;
 *     response.headers = headers;
 *     response.header_count = 1;
 *     quire_parsed parsed = QUIRE_PARSED_INIT;
 *     quire_parse(profile, &response, &parsed);
 *     quire_ingest(feed, NULL, request.ticket, parsed.answer, &outcome);
 *     quire_parsed_free(&parsed);
 *
 * The house rules of quire.h hold, except that this library has its own last error: quire_profiles_last_error().
 * It opens no file and makes no thread. It works without libquire, and beside any version of it. The answer is a
 * plain struct of quire.h. In a child after fork() everything may be used if no other thread was inside at the
 * fork.
 *
 * C99 or later, C++11 or later. Link with -lquire-profiles; see quire-profiles.pc and Quire::profiles.
 */
#ifndef QUIRE_PROFILES_H
#define QUIRE_PROFILES_H

#include "quire.h"

#if defined(__clang__) && !defined(__swift__)
#if __has_feature(nullability)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define QUIRE_POP_DIAGNOSTIC
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The error of the last call of this thread, into this library, that failed; see quire_last_error().
   [any] Since 0.1 */
quire_status quire_profiles_last_error(quire_error *QUIRE_NONNULL out_error);

/* ---- 1. Profiles ----------------------------------------------------------------------------------- */

/* One profile, and a parser for it. A handle, as those of quire.h are. */
typedef struct quire_profile quire_profile;

/* What is to be read from other places than the profile says. Paths are those of Docs/profiles.md. */
typedef struct quire_profile_options {
    uint32_t struct_size;
    uint32_t reserved;
    /* The array of items, from the document; no bytes: as the profile says. */
    quire_bytes items;
    /* The id and the sort key, from the item; no bytes: as the profile says. */
    quire_bytes id;
    quire_bytes key;
    /* The largest response, in bytes, at most QUIRE_BODIES_LIMIT; 0 is 16 MiB. */
    uint64_t maximum_size;
} quire_profile_options;

#define QUIRE_PROFILE_OPTIONS_INIT \
    { sizeof(quire_profile_options), 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0 }

/*
 * Opens a profile. name_or_json: the name of a profile that comes with the library, or, if its first character is
 * a brace, a profile as JSON. options: NULL is none.
 * Errors: QUIRE_NOT_FOUND if the library has no profile of this name; QUIRE_BAD_ARGUMENT with the field of the
 * profile that is unknown, missing or malformed. [any] Since 0.1
 */
quire_status quire_profile_open(
    quire_bytes name_or_json, const quire_profile_options *QUIRE_NULLABLE options,
    quire_profile *QUIRE_NULLABLE *QUIRE_NONNULL out_profile);

/* Releases the profile. What it has parsed stays. [any] Since 0.1 */
void quire_profile_close(quire_profile *QUIRE_NULLABLE profile);

/* The names of the profiles that come with the library, in order of their bytes. Free the list with
   quire_profile_names_free(). [any] Since 0.1 */
quire_status quire_profile_names(quire_list *QUIRE_NONNULL out_names);

/* Frees what quire_profile_names() gave, and empties it. NULL is fine. [one] Since 0.1 */
void quire_profile_names_free(quire_list *QUIRE_NULLABLE names);

/*
 * The options for a feed of this API, for quire_feed_open(): order, paging, first_page, sizes and rows_per_page as
 * the profile says, the others as QUIRE_FEED_OPTIONS_INIT. [any] Since 0.1
 */
quire_status quire_profile_get_feed_options(
    quire_profile *QUIRE_NONNULL profile, quire_feed_options *QUIRE_NONNULL out_options);

/* ---- 2. Responses ---------------------------------------------------------------------------------- */

/* What a server sent. */
typedef struct quire_response {
    uint32_t struct_size;
    /* The status of HTTP, 100 to 999; 0 if it is not known. All but 200 to 299 are refused. */
    int32_t status;
    /*
     * The bytes of the document. A recorded exchange, as `curl -i` writes it, brings status and headers itself:
     * it begins with HTTP/ or GET.
     */
    quire_bytes body;
    /* The address that was asked for, complete, in UTF-8; no bytes if it is not known. */
    quire_bytes request;
    /*
     * The headers, such as Link, by name in any case; a name may occur several times. With no header and a status
     * of 0 the headers are not known, which is another thing than none: no end is taken from a missing Link.
     */
    const quire_field *QUIRE_NULLABLE headers;
    size_t header_count;
} quire_response;

#define QUIRE_RESPONSE_INIT { sizeof(quire_response), 0, { NULL, 0 }, { NULL, 0 }, NULL, 0 }

/* What the request asked for, as far as its address or the response tells. */
enum {
    QUIRE_ASKED_UNKNOWN = 0,
    /* The top of the feed. */
    QUIRE_ASKED_HEAD = 1,
    /* The top of the feed down to the post asked_id, exclusive. */
    QUIRE_ASKED_NEWER = 2,
    /* A page below another one. */
    QUIRE_ASKED_BELOW = 3,
    /* What lies directly above the post asked_id. */
    QUIRE_ASKED_ABOVE = 4,
    /* What lies on both sides of the post asked_id. */
    QUIRE_ASKED_AROUND = 5
};

/* Flags of quire_parsed. */
enum {
    QUIRE_PARSED_HAS_PAGE = 1,
    QUIRE_PARSED_HAS_PAGES = 2,
    QUIRE_PARSED_HAS_TOTAL = 4,
    QUIRE_PARSED_HAS_BACKOFF = 8,
    QUIRE_PARSED_HAS_QUOTA = 16,
    QUIRE_PARSED_HAS_QUOTA_RENEWAL = 32,
    /*
     * A page without posts says that the list ends, and the profile doubts that: perhaps the post is gone that the
     * link of the request names. `next` is QUIRE_LINK_UNKNOWN. Call quire_drop_link(). If the link is asked for again
     * after that, and its page is empty again, it is the end: ingest it with QUIRE_LINK_END.
     */
    QUIRE_PARSED_END_IS_DOUBTFUL = 64,
    /* With QUIRE_BAD_RESPONSE, if the profile names the error: the link is of no use any more; the error passes. */
    QUIRE_PARSED_LINK_IS_REFUSED = 128,
    QUIRE_PARSED_ERROR_PASSES = 256
};

/* A parsed response. Free it with quire_parsed_free(); all that it points to lives until then. */
typedef struct quire_parsed {
    uint32_t struct_size;
    uint32_t flags;
    /*
     * For quire_ingest() and its kin. Its `fetched_at` is 0 and its `has_total` is 0: copy the struct to set
     * them, and set struct_size of the copy to sizeof(quire_answer), because a newer library may have written
     * more. For the same reason its posts are post_size bytes apart. A total ends a feed that is paged by offset
     * or number, so set it only for a server that counts exactly what it lists.
     */
    const quire_answer *QUIRE_NULLABLE answer;
    /* One of QUIRE_ASKED_. */
    int32_t asked;
    int32_t reserved;
    quire_bytes asked_id;
    /* The link that led to this response; QUIRE_LINK_UNKNOWN if neither it nor its address tells. */
    quire_link own;
    /* The number of this page, of all pages, and of all posts, as the server counts; with their flags. */
    uint64_t page;
    uint64_t pages;
    uint64_t total;
    /* Milliseconds that the server asks to wait before the next request; with its flag. */
    uint64_t backoff_ms;
    /* How many requests it still permits, and in how many milliseconds there are new ones; with their flags. */
    uint64_t quota;
    uint64_t quota_renewal_ms;
    /* The library's own. */
    void *QUIRE_NULLABLE owner;
} quire_parsed;

#define QUIRE_PARSED_INIT                                                                           \
    {                                                                                               \
        sizeof(quire_parsed), 0, NULL, 0, 0, { NULL, 0 }, { 0, 0, { NULL, 0 } }, 0, 0, 0, 0, 0, 0, NULL \
    }

/*
 * Parses a response. A page without items is not an error. The bytes of the response are copied: they may go when
 * the call returns. Threads that share a profile take turns; open one for each thread to parse side by side.
 * Errors: QUIRE_BAD_RESPONSE if the response is not JSON, is an error document of the server, is too large or too
 * deep, or is not what the profile describes. The sentence names the place: "response: item 17: no id". The result
 * then has no answer. Its flags say what the profile knows of the error, and it has the pause and the quota that the
 * headers say; what the status of HTTP means is known to the caller.
 * [any] Since 0.1
 */
quire_status quire_parse(
    quire_profile *QUIRE_NONNULL profile, const quire_response *QUIRE_NONNULL response,
    quire_parsed *QUIRE_NONNULL out_parsed);

/* Frees what a parsed response owns and empties it. NULL is fine. [one] Since 0.1 */
void quire_parsed_free(quire_parsed *QUIRE_NULLABLE parsed);

#ifdef QUIRE_POP_DIAGNOSTIC
#pragma clang diagnostic pop
#undef QUIRE_POP_DIAGNOSTIC
#endif

#ifdef __cplusplus
}
#endif

#endif

// quire-c: writing.
#include "quire_c.h"
#include <stdio.h>
#include <stdlib.h>

static int make_room(peer *p, const peer_page *pages, size_t count) {
    size_t posts = 0;
    for (size_t i = 0; i < count; i++) posts += pages[i].count;
    if (count > p->page_room) {
        free(p->pages);
        p->pages = calloc(p->page_room = count, sizeof *p->pages);
    }
    if (posts > p->post_room) {
        free(p->posts);
        free(p->digits);
        p->posts = calloc(p->post_room = posts, sizeof *p->posts);
        p->digits = calloc(posts, sizeof *p->digits);
    }
    if (p->pages != NULL && p->posts != NULL && p->digits != NULL) return 0;
    p->page_room = p->post_room = 0;
    return quire_c_complain(p, "out of memory");
}

// Puts pages into answers; the bytes of the bodies stay where they are.
int quire_c_stage_pages(peer *p, const peer_page *pages, size_t count) {
    p->page_count = 0;
    if (make_room(p, pages, count) != 0) return -1;
    quire_post *post = p->posts;
    for (size_t i = 0; i < count; i++) {
        staged_page *page = &p->pages[i];
        page->feed = quire_c_feed(p, pages[i].feed);
        if (page->feed == NULL) return -1;
        page->is_first = !page->feed->is_filled;
        page->feed->is_filled = true;
        page->answer = (quire_answer)QUIRE_ANSWER_INIT;
        page->answer.posts = post;
        page->answer.count = pages[i].count;
        int size = snprintf(page->link, sizeof page->link, "page=%lld", (long long)pages[i].following);
        page->answer.next = (quire_link){QUIRE_LINK_TOKEN, 0, {page->link, (size_t)size}};
        for (uint32_t j = 0; j < pages[i].count; j++, post++) {
            const peer_post *given = &pages[i].posts[j];
            *post = (quire_post){
                .id = quire_c_text(given->id, p->digits[post - p->posts]), .body = {given->body, given->size},
                .key = given->key, .flags = QUIRE_POST_HAS_KEY, .detail = QUIRE_DETAIL_FULL};
        }
    }
    p->page_count = count;
    return 0;
}

// A positive number undoes the batch for a reason of this file's own.
enum { REFUSED = 1 };

static quire_status take_in(peer *p, quire_batch *batch, const staged_page *page, int32_t kind) {
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    place.kind = kind;
    quire_status status = quire.plan(page->feed->handle, batch, &place, &request);
    if (status != QUIRE_OK) return status;
    uint64_t ticket = request.ticket;
    int32_t refusal = request.refusal;
    quire.request_free(&request);
    if (refusal != 0) {
        quire_c_complain(p, "refusal %d at place %d", refusal, kind);
        return REFUSED;
    }
    status = quire.ingest(page->feed->handle, batch, ticket, &page->answer, &outcome);
    if (status != QUIRE_OK) return status;
    // Every page of the workload attaches to what is cached: nothing may be lost, moved or gapped.
    if (outcome.verdict != QUIRE_VERDICT_OK || outcome.gaps_opened != 0 || outcome.moved.count != 0 ||
        outcome.removed.count != 0 || outcome.ignored.count != 0) {
        quire_c_complain(p, "a page at place %d gave verdict %d", kind, outcome.verdict);
        status = REFUSED;
    }
    // What the page repeats of its neighbour is not new, whether it is told as a duplicate or not.
    p->duplicates += page->answer.count - outcome.added.count;
    quire.outcome_free(&outcome);
    return status;
}

static quire_status take_in_staged(void *context, quire_batch *batch) {
    peer *p = context;
    quire_status status = QUIRE_OK;
    p->duplicates = 0;
    for (size_t i = 0; i < p->page_count && status == QUIRE_OK; i++) {
        const staged_page *page = &p->pages[i];
        int32_t kind = p->is_refresh || page->is_first ? QUIRE_PLACE_HEAD : QUIRE_PLACE_TAIL;
        status = take_in(p, batch, page, kind);
    }
    return status;
}

static int run_batch(peer *p, bool is_refresh, peer_written *out) {
    p->is_refresh = is_refresh;
    quire_status status = quire.batch_run(p->cache, take_in_staged, p);
    out->duplicates = p->duplicates;
    return status == REFUSED ? -1 : quire_c_check(p, status);
}

// The pages are those that were staged.
int quire_c_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    (void)pages, (void)count;
    return run_batch(p, false, out);
}

int quire_c_prepend(peer *p, const peer_page *page, peer_written *out) {
    (void)page;
    return run_batch(p, true, out);
}

int quire_c_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    char digits[QUIRE_DIGITS];
    int32_t result = 0;
    quire_bytes no_collection = {NULL, 0}, bytes = {body, size};
    quire_status status = quire.update_body(
        p->cache, NULL, no_collection, quire_c_text(id, digits), bytes, NULL, QUIRE_DETAIL_FULL, &result);
    if (quire_c_check(p, status) != 0) return -1;
    return result == QUIRE_UPDATE_CHANGED ? 0 : quire_c_complain(p, "the update had result %d", result);
}

int quire_c_prune(peer *p, uint32_t number, uint64_t keep_pages) {
    quire_c_feed_state *f = quire_c_feed(p, number);
    if (f == NULL) return -1;
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    policy.flags = QUIRE_PRUNE_BY_PAGES;
    policy.maximum_pages = keep_pages;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    while (!result.is_done)
        if (quire_c_check(p, quire.prune(f->handle, NULL, &policy, &result)) != 0) return -1;
    return 0;
}


/* Misuse of views. */
#include "misuse.h"

static quire_feed *shown;
static quire_view *view;
static int released;

/* Shows posts whose body is not "b". */
static int32_t choose(void *context, const quire_row *post, quire_view_entry *out_entry)
{
    out_entry->section = post->body;
    out_entry->key.size = SIZE_MAX; /* without bytes: none */
    return context == &released && *(const char *)post->body.data != 'b';
}

static int32_t choose_oddly(void *context, const quire_row *post, quire_view_entry *out_entry)
{
    static const char long_section[100] = "section";
    (void)context, (void)post;
    out_entry->section.data = long_section;
    out_entry->section.size = sizeof long_section;
    out_entry->key = out_entry->section;
    return post->body.size == 1 ? 1 : 7;
}

static void release(void *context) { ++*(int *)context; }

static void openings(void)
{
    const struct {
        const char *what;
        quire_status status;
        quire_view_options options;
    } cases[] = {
#define OPTIONS(...) {.struct_size = sizeof(quire_view_options), .release = release, __VA_ARGS__}
        {"by keys", QUIRE_OK, OPTIONS(.order = QUIRE_VIEW_KEYS, .version = UINT64_MAX)},
        {"in the order of the feed", QUIRE_OK, OPTIONS(.order = QUIRE_VIEW_FEED)},
        {"an unknown order", BAD, OPTIONS(.order = 3)},
        {"no order", BAD, OPTIONS(.order = 0)},
#undef OPTIONS
    };
    quire_view *opened;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int before = released;
        opened = view;
        expect(
            cases[i].status,
            quire_view_open(shown, text("other"), &cases[i].options, choose_oddly, &released, &opened), cases[i].what);
        require((opened != NULL) == (cases[i].status == QUIRE_OK), cases[i].what);
        require(cases[i].status == QUIRE_OK || released == before + 1, "a context that is not released");
        quire_view_close(opened);
    }
    int32_t done;
    EXPECT(QUIRE_OK, quire_view_remove(shown, text("other"), &done));
    REQUIRE(done == 1 && released == 4);
    EXPECT(QUIRE_OK, quire_view_remove(shown, text("other"), &done));
    REQUIRE(done == 0);
    const quire_view_options wrong = {.struct_size = 3};
    EXPECT(BAD, quire_view_open(shown, text("x"), &wrong, choose, &released, &opened));
    EXPECT(BAD, quire_view_open(shown, text(""), NULL, choose, &released, &opened));
    EXPECT(BAD, quire_view_open(shown, text("x"), NULL, NULL, &released, &opened));
    EXPECT(BAD, quire_view_open(shown, text("x"), NULL, choose, &released, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_view_open(closed_feed, text("x"), NULL, choose, &released, &opened));
    EXPECT(QUIRE_NOT_FOUND, quire_view_find(shown, text("x"), &opened));
    EXPECT(BAD, quire_view_find(shown, text("x"), NULL));
    EXPECT(BAD, quire_view_remove(shown, text("x"), NULL));
}

static void reads(quire_snapshot *open)
{
    quire_row rows[4];
    quire_view_section sections[3], place;
    size_t count = 7;
    quire_view_info info = QUIRE_VIEW_INFO_INIT;
    EXPECT(QUIRE_OK, quire_view_get_info(open, view, &info));
    REQUIRE(info.posts == 2 && info.is_current && !info.is_complete && info.order == QUIRE_VIEW_FEED);
    EXPECT(QUIRE_OK, quire_view_read_after(open, view, NULL, rows, 4, &count));
    REQUIRE(count == 2 && *(const char *)rows[0].body.data == 'a' && *(const char *)rows[1].body.data == 'c');
    EXPECT(QUIRE_OK, quire_view_read_after(open, view, &rows[0].position, rows + 2, 2, &count));
    REQUIRE(count == 1 && *(const char *)rows[2].body.data == 'c');
    EXPECT(QUIRE_OK, quire_view_read_from_rank(open, view, 1, rows, 4, &count));
    REQUIRE(count == 1);
    EXPECT(QUIRE_OK, quire_view_read_from_rank(open, view, UINT64_MAX, rows, 4, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_OK, quire_view_sections(open, view, 0, sections, 3, &count));
    REQUIRE(count == 2 && sections[1].rank == 1 && sections[1].posts == 1);
    /* one by one, forwards and backwards: what was read before must not matter */
    for (int step = 0; step < 6; step++) {
        uint64_t skip = (uint64_t)(step < 3 ? step : 5 - step);
        EXPECT(QUIRE_OK, quire_view_sections(open, view, skip, &place, 1, &count));
        REQUIRE(count == (skip < 2) && (skip == 2 || (place.rank == skip && place.posts == 1)));
    }
    EXPECT(QUIRE_OK, quire_view_sections(open, view, UINT64_MAX, sections, 3, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_OK, quire_view_find_post(open, view, text("c"), &place));
    REQUIRE(place.rank == 1 && place.posts == 1 && place.name.size == 1);
    EXPECT(QUIRE_NOT_FOUND, quire_view_find_post(open, view, text("b"), &place));
    EXPECT(BAD, quire_view_find_post(open, view, text(""), &place));
    EXPECT(BAD, quire_view_read_after(open, view, NULL, NULL, 4, &count));
    EXPECT(BAD, quire_view_read_after(open, view, NULL, rows, SIZE_MAX, &count));
    EXPECT(BAD, quire_view_read_from_rank(open, view, 0, rows, 4, NULL));
    EXPECT(BAD, quire_view_sections(open, view, 0, NULL, 1, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_view_read_after(ended_snapshot, view, NULL, rows, 4, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_view_read_after(open, (quire_view *)(void *)open, NULL, rows, 4, &count));
    info.struct_size = 4;
    EXPECT(BAD, quire_view_get_info(open, view, &info));
    quire_snapshot *other;
    EXPECT(QUIRE_OK, quire_snapshot_begin(other_cache, &other));
    EXPECT(BAD, quire_view_read_after(other, view, NULL, rows, 4, &count));
    quire_snapshot_end(other);
}

void misuse_views(void)
{
    quire_snapshot *open;
    int32_t done;
    size_t count;
    quire_row row;
    quire_view *found;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("viewed"), NULL, &shown));
    EXPECT(QUIRE_OK, quire_view_open(shown, text("chosen"), NULL, choose, &released, &view));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("c"), text("c"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("b"), text("b"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("a"), text("a"), &done));
    openings();
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &open));
    reads(open);
    EXPECT(QUIRE_OK, quire_view_find(shown, text("chosen"), &found));
    quire_view_close(view);
    quire_view_close(view);
    quire_view_close(NULL);
    EXPECT(QUIRE_BAD_HANDLE, quire_view_read_after(open, view, NULL, &row, 1, &count));
    quire_snapshot_end(open);
    EXPECT(QUIRE_OK, quire_view_remove(shown, text("chosen"), &done));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &open));
    EXPECT(QUIRE_NOT_FOUND, quire_view_read_after(open, found, NULL, &row, 1, &count));
    quire_snapshot_end(open);
    quire_view_close(found);
    EXPECT(QUIRE_OK, quire_feed_drop(shown, NULL));
    quire_feed_close(shown);
}

/*
 * The layout of every struct in the headers, as C sees it: these numbers are part of the ABI. A struct that starts with
 * struct_size may grow at its end, and quire_post may; nothing else here may ever change. Then SIZE changes here, and
 * its smallest size in Sources/QuireC/Structs.swift does not.
 */
#include "quire_cluster.h"
#include "quire_profiles.h"

#if UINTPTR_MAX == UINT64_MAX

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #type "." #member)

SIZE(quire_status, 4);
SIZE(quire_bytes, 16);
AT(quire_bytes, size, 8);
SIZE(quire_ids, 16);
AT(quire_ids, count, 8);
SIZE(quire_error, 24);
AT(quire_error, status, 4);
AT(quire_error, os_error, 8);
AT(quire_error, message, 16);
SIZE(quire_list, 32);
AT(quire_list, count, 8);
AT(quire_list, items, 16);
AT(quire_list, owner, 24);
SIZE(quire_link, 24);
AT(quire_link, is_overlapping, 4);
AT(quire_link, text, 8);

SIZE(quire_cache_options, 32);
AT(quire_cache_options, durability, 4);
AT(quire_cache_options, map_size, 8);
AT(quire_cache_options, write_timeout_ms, 16);
AT(quire_cache_options, maximum_snapshot_age, 20);
AT(quire_cache_options, flags, 24);
SIZE(quire_limits, 24);
AT(quire_limits, body_bytes, 8);
AT(quire_limits, age_ms, 16);
SIZE(quire_budget, 88);
AT(quire_budget, file_bytes, 8);
AT(quire_budget, cache, 16);
AT(quire_budget, collection, 40);
AT(quire_budget, feed, 64);
SIZE(quire_evictions, 88);
AT(quire_evictions, posts, 16);
AT(quire_evictions, posts_by_age, 32);
AT(quire_evictions, posts_by_file, 64);
AT(quire_evictions, misses, 80);
SIZE(quire_statistics, 112);
AT(quire_statistics, feeds, 8);
AT(quire_statistics, generation, 56);
AT(quire_statistics, free_bytes, 72);
AT(quire_statistics, snapshots, 80);
AT(quire_statistics, oldest_snapshot_process, 96);
AT(quire_statistics, pinned_bytes, 104);
SIZE(quire_finding, 40);
AT(quire_finding, location, 8);
AT(quire_finding, message, 24);
SIZE(quire_repaired_feed, 64);
AT(quire_repaired_feed, posts, 16);
AT(quire_repaired_feed, new_gaps, 48);
AT(quire_repaired_feed, is_lost, 56);
SIZE(quire_repair_report, 56);
AT(quire_repair_report, damaged_records, 8);
AT(quire_repair_report, feeds, 16);
AT(quire_repair_report, kept_file, 32);
AT(quire_repair_report, owner, 48);

SIZE(quire_feed_options, 72);
AT(quire_feed_options, paging, 8);
AT(quire_feed_options, page_size, 16);
AT(quire_feed_options, first_page, 24);
AT(quire_feed_options, sizes, 28);
AT(quire_feed_options, sticky, 32);
AT(quire_feed_options, collection, 48);
AT(quire_feed_options, rows_per_page, 64);
SIZE(quire_place, 88);
AT(quire_place, gap, 8);
AT(quire_place, target, 16);
AT(quire_place, limit, 32);
AT(quire_place, link, 40);
AT(quire_place, posts, 64);
AT(quire_place, page, 80);
SIZE(quire_request, 112);
AT(quire_request, refusal, 8);
AT(quire_request, ticket, 16);
AT(quire_request, link, 40);
AT(quire_request, ids, 64);
AT(quire_request, until, 80);
AT(quire_request, owner, 96);
AT(quire_request, help, 104);

SIZE(quire_post, 56);
AT(quire_post, body, 16);
AT(quire_post, key, 32);
AT(quire_post, version, 40);
AT(quire_post, flags, 48);
AT(quire_post, detail, 52);
SIZE(quire_answer, 136);
AT(quire_answer, posts, 8);
AT(quire_answer, count, 16);
AT(quire_answer, next, 32);
AT(quire_answer, previous, 56);
AT(quire_answer, fetched_at, 80);
AT(quire_answer, has_total, 88);
AT(quire_answer, total, 96);
AT(quire_answer, since, 104);
AT(quire_answer, deleted, 120);
SIZE(quire_outcome, 256);
AT(quire_outcome, verdict, 4);
AT(quire_outcome, help, 12);
AT(quire_outcome, page, 16);
AT(quire_outcome, reason, 64);
AT(quire_outcome, added, 80);
AT(quire_outcome, sticky, 192);
AT(quire_outcome, disorder, 208);
AT(quire_outcome, unplaced, 224);
AT(quire_outcome, disproved_sizes, 240);
AT(quire_outcome, owner, 248);

SIZE(quire_field, 32);
SIZE(quire_prune_policy, 72);
AT(quire_prune_policy, maximum_age, 8);
AT(quire_prune_policy, maximum_posts, 24);
AT(quire_prune_policy, visible, 48);
AT(quire_prune_policy, budget, 64);
SIZE(quire_prune_result, 24);
AT(quire_prune_result, pages, 8);

SIZE(quire_feed_info, 224);
AT(quire_feed_info, name, 8);
AT(quire_feed_info, order, 24);
AT(quire_feed_info, sticky, 48);
AT(quire_feed_info, posts, 64);
AT(quire_feed_info, head, 120);
AT(quire_feed_info, tail, 144);
AT(quire_feed_info, drift, 168);
AT(quire_feed_info, is_in_sequence, 176);
AT(quire_feed_info, is_end_assumed, 180);
AT(quire_feed_info, collection, 184);
AT(quire_feed_info, sizes, 200);
AT(quire_feed_info, sizes_now, 208);
AT(quire_feed_info, answers_against_order, 216);
SIZE(quire_position, 16);
SIZE(quire_row, 160);
AT(quire_row, position, 8);
AT(quire_row, id_number, 24);
AT(quire_row, id_text, 32);
AT(quire_row, body, 48);
AT(quire_row, key, 64);
AT(quire_row, page, 72);
AT(quire_row, gap, 80);
AT(quire_row, down, 88);
AT(quire_row, up, 112);
AT(quire_row, posts_above, 136);
AT(quire_row, why, 144);
AT(quire_row, since, 152);
SIZE(quire_page, 144);
AT(quire_page, own, 16);
AT(quire_page, received, 88);
AT(quire_page, fetched_at, 128);
AT(quire_page, is_full, 136);
SIZE(quire_post_info, 64);
AT(quire_post_info, version, 8);
AT(quire_post_info, body, 24);
AT(quire_post_info, field_count, 48);
AT(quire_post_info, detail, 56);
SIZE(quire_change, 72);
AT(quire_change, feed, 8);
AT(quire_change, id, 24);
AT(quire_change, gap, 40);
AT(quire_change, below_gap, 64);
SIZE(quire_window_start, 48);
AT(quire_window_start, ids, 8);
AT(quire_window_start, key, 24);
AT(quire_window_start, above, 40);
SIZE(quire_window_info, 48);
AT(quire_window_info, rank, 24);
AT(quire_window_info, anchor, 40);
SIZE(quire_difference, 56);
AT(quire_difference, removed, 8);
AT(quire_difference, updated_count, 48);
SIZE(quire_view_entry, 32);
AT(quire_view_entry, key, 16);
SIZE(quire_view_options, 24);
AT(quire_view_options, version, 8);
AT(quire_view_options, release, 16);
SIZE(quire_view_info, 32);
AT(quire_view_info, posts, 16);
AT(quire_view_info, is_complete, 28);
SIZE(quire_view_section, 32);
AT(quire_view_section, rank, 24);

SIZE(quire_shard_status, 56);
AT(quire_shard_status, applied, 8);
AT(quire_shard_status, lost, 48);

SIZE(quire_profile_options, 64);
AT(quire_profile_options, items, 8);
AT(quire_profile_options, key, 40);
AT(quire_profile_options, maximum_size, 56);
SIZE(quire_response, 56);
AT(quire_response, status, 4);
AT(quire_response, body, 8);
AT(quire_response, request, 24);
AT(quire_response, headers, 40);
SIZE(quire_parsed, 120);
AT(quire_parsed, answer, 8);
AT(quire_parsed, asked, 16);
AT(quire_parsed, asked_id, 24);
AT(quire_parsed, own, 40);
AT(quire_parsed, page, 64);
AT(quire_parsed, quota_renewal_ms, 104);
AT(quire_parsed, owner, 112);

#endif

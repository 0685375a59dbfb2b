// Written by generate-sys from quire.h, which is the manual. Do not edit.

use super::types::growing;
use super::*;
use std::marker::{PhantomData, PhantomPinned};

pub const QUIRE_ROW_POST: i32 = 1;
pub const QUIRE_ROW_GAP: i32 = 2;
pub const QUIRE_ROW_HEAD: i32 = 3;
pub const QUIRE_ROW_TAIL: i32 = 4;
pub const QUIRE_ROW_HAS_KEY: u32 = 1;
pub const QUIRE_ROW_HAS_PAGE: u32 = 2;
pub const QUIRE_ROW_DETACHED: u32 = 4;
pub const QUIRE_ROW_PINNED: u32 = 8;
pub const QUIRE_ROW_PLACEHOLDER: u32 = 16;
pub const QUIRE_ROW_UNVERIFIED: u32 = 32;
pub const QUIRE_ROW_OUTDATED: u32 = 64;
pub const QUIRE_ROW_PARTIAL: u32 = 128;
pub const QUIRE_ROW_CHECKED: u32 = 256;
pub const QUIRE_ROW_NUMERIC_ID: u32 = 512;
pub const QUIRE_DOUBT_UNFETCHED: i32 = 1;
pub const QUIRE_DOUBT_EVICTED: i32 = 2;
pub const QUIRE_DOUBT_END_IN_DOUBT: i32 = 3;
pub const QUIRE_DOUBT_JUMP: i32 = 4;
pub const QUIRE_DOUBT_MISSING_PAGE: i32 = 5;
pub const QUIRE_DOUBT_CONTRADICTION: i32 = 6;
pub const QUIRE_DOUBT_DRIFT: i32 = 7;
pub const QUIRE_DOUBT_NUMBERING: i32 = 8;
pub const QUIRE_DOUBT_DISORDER: i32 = 9;
pub const QUIRE_DOUBT_UNPLACED: i32 = 10;
pub const QUIRE_DOUBT_MISSED: i32 = 11;
pub const QUIRE_DOUBT_DAMAGE: i32 = 12;
pub const QUIRE_CHANGE_INSERTED: i32 = 1;
pub const QUIRE_CHANGE_REMOVED: i32 = 2;
pub const QUIRE_CHANGE_UPDATED: i32 = 3;
pub const QUIRE_CHANGE_RESET: i32 = 4;

#[repr(C)]
pub struct quire_snapshot {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct quire_merge {
    _opaque: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_feed_info {
    pub struct_size: u32,
    pub number: u32,
    pub name: quire_bytes,
    pub order: i32,
    pub paging: i32,
    pub flags: u32,
    pub page_size: u32,
    pub minimum_run: u32,
    pub first_page: u32,
    pub sticky: quire_ids,
    pub posts: u64,
    pub detached: u64,
    pub placeholders: u64,
    pub pages: u64,
    pub gaps: u64,
    pub unverified_joins: u64,
    pub body_bytes: u64,
    pub head: quire_link,
    pub tail: quire_link,
    pub drift: i64,
    pub is_in_sequence: i32,
    pub is_end_assumed: i32,
    pub collection: quire_bytes,
    pub sizes: i32,
    pub rows_per_page: u32,
    pub sizes_now: i32,
    pub rows_known: u32,
    pub answers_against_order: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_position {
    pub opaque: [u64; 2],
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_row {
    pub kind: i32,
    pub flags: u32,
    pub position: quire_position,
    pub id_number: u64,
    pub id_text: quire_bytes,
    pub body: quire_bytes,
    pub key: i64,
    pub page: u64,
    pub gap: u64,
    pub down: quire_link,
    pub up: quire_link,
    pub posts_above: u64,
    pub why: i32,
    pub reserved: i32,
    pub since: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_page {
    pub number: u64,
    pub index: u64,
    pub own: quire_link,
    pub next: quire_link,
    pub previous: quire_link,
    pub received: u64,
    pub added: u64,
    pub duplicates: u64,
    pub duplicates_in_page: u64,
    pub posts: u64,
    pub fetched_at: i64,
    pub is_full: i32,
    pub reserved: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_post_info {
    pub struct_size: u32,
    pub has_version: i32,
    pub version: i64,
    pub feeds: u64,
    pub body: quire_bytes,
    pub fields: *const quire_field,
    pub field_count: usize,
    pub detail: u32,
    pub is_outdated: i32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quire_change {
    pub generation: u64,
    pub feed: u32,
    pub kind: i32,
    pub row_kind: i32,
    pub below_kind: i32,
    pub id: quire_bytes,
    pub gap: u64,
    pub below_id: quire_bytes,
    pub below_gap: u64,
}
growing! {
    quire_feed_info
    quire_post_info
}

extern "C" {
    pub fn quire_snapshot_begin(
        cache: *mut quire_cache,
        out_snapshot: *mut *mut quire_snapshot,
    ) -> quire_status;
    pub fn quire_snapshot_end(snapshot: *mut quire_snapshot);
    pub fn quire_snapshot_generation(
        snapshot: *mut quire_snapshot,
        out_generation: *mut u64,
    ) -> quire_status;
    pub fn quire_feed_get_info(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        out_info: *mut quire_feed_info,
    ) -> quire_status;
    pub fn quire_doubt_name(doubt: i32) -> *const c_char;
    pub fn quire_row_id(row: *const quire_row, digits: *mut c_char) -> quire_bytes;
    pub fn quire_read_after(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        after: *const quire_position,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_read_before(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        before: *const quire_position,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_read_gaps(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        after: *const quire_position,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_read_from_rank(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        rank: u64,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_row_count(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        out_count: *mut u64,
    ) -> quire_status;
    pub fn quire_rank_of_row(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        position: *const quire_position,
        out_rank: *mut u64,
    ) -> quire_status;
    pub fn quire_rank_of_post(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        id: quire_bytes,
        out_rank: *mut u64,
    ) -> quire_status;
    pub fn quire_rank_of_key(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        key: i64,
        out_rank: *mut u64,
    ) -> quire_status;
    pub fn quire_merge_begin(
        snapshot: *mut quire_snapshot,
        feeds: *const *mut quire_feed,
        count: usize,
        from_key: *const i64,
        out_merge: *mut *mut quire_merge,
    ) -> quire_status;
    pub fn quire_merge_read(
        merge: *mut quire_merge,
        rows: *mut quire_row,
        sources: *mut u32,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_merge_end(merge: *mut quire_merge);
    pub fn quire_read_pages(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        index: u64,
        pages: *mut quire_page,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_read_page(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        number: u64,
        first: usize,
        rows: *mut quire_row,
        capacity: usize,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_find(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        id: quire_bytes,
        out_row: *mut quire_row,
    ) -> quire_status;
    pub fn quire_post_get_info(
        snapshot: *mut quire_snapshot,
        collection: quire_bytes,
        id: quire_bytes,
        out_info: *mut quire_post_info,
    ) -> quire_status;
    pub fn quire_get_attribute(
        snapshot: *mut quire_snapshot,
        feed: *mut quire_feed,
        name: quire_bytes,
        out_value: *mut quire_bytes,
    ) -> quire_status;
    pub fn quire_generation(cache: *mut quire_cache, out_generation: *mut u64) -> quire_status;
    pub fn quire_wait(
        cache: *mut quire_cache,
        since: u64,
        timeout_ms: u32,
        out_now: *mut u64,
    ) -> quire_status;
    pub fn quire_changes_since(
        snapshot: *mut quire_snapshot,
        since: u64,
        out_changes: *mut *const quire_change,
        out_count: *mut usize,
    ) -> quire_status;
}

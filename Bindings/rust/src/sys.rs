// Written by generate-sys from quire.h, which is the manual. Do not edit.

//! The C API as it is. Everything here is `unsafe`; the crate's root is not.

#![allow(non_camel_case_types)]

mod constants;
mod layout;
mod reading;
mod types;
mod windows;
#[cfg(feature = "profiles")]
mod profiles;

pub use constants::*;
pub use reading::*;
pub use types::*;
pub use windows::*;
#[cfg(feature = "profiles")]
pub use profiles::*;
use std::ffi::{c_char, c_void};

pub type quire_finding_callback = unsafe extern "C" fn(
    context: *mut c_void,
    finding: *const quire_finding,
);

pub type quire_progress_callback = unsafe extern "C" fn(
    context: *mut c_void,
    done: f64,
) -> quire_status;

pub type quire_batch_callback = unsafe extern "C" fn(
    context: *mut c_void,
    batch: *mut quire_batch,
) -> quire_status;

extern "C" {
    pub fn quire_version_number() -> u32;
    pub fn quire_version_string() -> *const c_char;
    pub fn quire_last_error(out_error: *mut quire_error) -> quire_status;
    pub fn quire_status_name(status: quire_status) -> *const c_char;
    pub fn quire_list_free(list: *mut quire_list);
    pub fn quire_open(
        path: *const c_char,
        options: *const quire_cache_options,
        out_cache: *mut *mut quire_cache,
    ) -> quire_status;
    pub fn quire_open_with_budget(
        path: *const c_char,
        options: *const quire_cache_options,
        budget: *const quire_budget,
        out_cache: *mut *mut quire_cache,
    ) -> quire_status;
    pub fn quire_close(cache: *mut quire_cache);
    pub fn quire_stats(
        cache: *mut quire_cache,
        out_statistics: *mut quire_statistics,
    ) -> quire_status;
    pub fn quire_get_evictions(
        cache: *mut quire_cache,
        out_evictions: *mut quire_evictions,
    ) -> quire_status;
    pub fn quire_check(
        cache: *mut quire_cache,
        flags: u32,
        limit: usize,
        found: Option<quire_finding_callback>,
        progress: Option<quire_progress_callback>,
        context: *mut c_void,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_verify(
        path: *const c_char,
        limit: usize,
        found: Option<quire_finding_callback>,
        progress: Option<quire_progress_callback>,
        context: *mut c_void,
        out_count: *mut usize,
    ) -> quire_status;
    pub fn quire_finding_name(code: i32) -> *const c_char;
    pub fn quire_copy(cache: *mut quire_cache, path: *const c_char) -> quire_status;
    pub fn quire_reclaim(
        cache: *mut quire_cache,
        budget: usize,
        out_freed: *mut u64,
    ) -> quire_status;
    pub fn quire_repair(
        path: *const c_char,
        flags: u32,
        progress: Option<quire_progress_callback>,
        context: *mut c_void,
        out_report: *mut quire_repair_report,
    ) -> quire_status;
    pub fn quire_repair_report_free(report: *mut quire_repair_report);
    pub fn quire_compact(
        path: *const c_char,
        progress: Option<quire_progress_callback>,
        context: *mut c_void,
        out_freed: *mut u64,
    ) -> quire_status;
    pub fn quire_feed_open(
        cache: *mut quire_cache,
        name: quire_bytes,
        options: *const quire_feed_options,
        out_feed: *mut *mut quire_feed,
    ) -> quire_status;
    pub fn quire_feed_find(
        cache: *mut quire_cache,
        name: quire_bytes,
        out_feed: *mut *mut quire_feed,
    ) -> quire_status;
    pub fn quire_feed_close(feed: *mut quire_feed);
    pub fn quire_feed_names(cache: *mut quire_cache, out_names: *mut quire_list) -> quire_status;
    pub fn quire_batch_run(
        cache: *mut quire_cache,
        callback: quire_batch_callback,
        context: *mut c_void,
    ) -> quire_status;
    pub fn quire_plan(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        place: *const quire_place,
        out_request: *mut quire_request,
    ) -> quire_status;
    pub fn quire_request_free(request: *mut quire_request);
    pub fn quire_refusal_name(refusal: i32) -> *const c_char;
    pub fn quire_help_name(help: i32) -> *const c_char;
    pub fn quire_cancel(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        ticket: u64,
    ) -> quire_status;
    pub fn quire_ingest(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        ticket: u64,
        answer: *const quire_answer,
        out_outcome: *mut quire_outcome,
    ) -> quire_status;
    pub fn quire_drop_link(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        ticket: u64,
        out_outcome: *mut quire_outcome,
    ) -> quire_status;
    pub fn quire_outcome_free(outcome: *mut quire_outcome);
    pub fn quire_verdict_name(verdict: i32) -> *const c_char;
    pub fn quire_push(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        answer: *const quire_answer,
        number: *const u64,
        follows: quire_bytes,
        out_outcome: *mut quire_outcome,
    ) -> quire_status;
    pub fn quire_begin_live(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        after: *const u64,
    ) -> quire_status;
    pub fn quire_end_live(feed: *mut quire_feed, batch: *mut quire_batch) -> quire_status;
    pub fn quire_crawl_begin(
        feed: *mut quire_feed,
        kind: i32,
        start: u64,
        out_crawl: *mut *mut quire_crawl,
    ) -> quire_status;
    pub fn quire_crawl_end(crawl: *mut quire_crawl);
    pub fn quire_crawl_ingest(
        crawl: *mut quire_crawl,
        batch: *mut quire_batch,
        page: u64,
        answer: *const quire_answer,
        out_outcome: *mut quire_outcome,
    ) -> quire_status;
    pub fn quire_contains(
        feed: *mut quire_feed,
        ids: quire_ids,
        out_flags: *mut u8,
    ) -> quire_status;
    pub fn quire_update_body(
        cache: *mut quire_cache,
        batch: *mut quire_batch,
        collection: quire_bytes,
        id: quire_bytes,
        body: quire_bytes,
        version: *const i64,
        detail: u32,
        out_result: *mut i32,
    ) -> quire_status;
    pub fn quire_update_fields(
        cache: *mut quire_cache,
        batch: *mut quire_batch,
        collection: quire_bytes,
        id: quire_bytes,
        fields: *const quire_field,
        count: usize,
        version: i64,
        out_result: *mut i32,
    ) -> quire_status;
    pub fn quire_add_alias(
        cache: *mut quire_cache,
        batch: *mut quire_batch,
        collection: quire_bytes,
        alias: quire_bytes,
        id: quire_bytes,
        out_result: *mut i32,
    ) -> quire_status;
    pub fn quire_delete(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
    ) -> quire_status;
    pub fn quire_evict(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        ids: quire_ids,
        out_count: *mut u64,
    ) -> quire_status;
    pub fn quire_evict_page(feed: *mut quire_feed, index: u64, out_count: *mut u64) -> quire_status;
    pub fn quire_set_visible(feed: *mut quire_feed, ids: quire_ids) -> quire_status;
    pub fn quire_pin(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
    ) -> quire_status;
    pub fn quire_unpin(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
    ) -> quire_status;
    pub fn quire_insert_local(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
        body: quire_bytes,
        out_done: *mut i32,
    ) -> quire_status;
    pub fn quire_remove_local(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
        out_done: *mut i32,
    ) -> quire_status;
    pub fn quire_confirm_local(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        id: quire_bytes,
        server_id: quire_bytes,
        out_result: *mut i32,
    ) -> quire_status;
    pub fn quire_reset(feed: *mut quire_feed, batch: *mut quire_batch) -> quire_status;
    pub fn quire_feed_drop(feed: *mut quire_feed, batch: *mut quire_batch) -> quire_status;
    pub fn quire_feed_rename(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        name: quire_bytes,
    ) -> quire_status;
    pub fn quire_feed_set_options(
        feed: *mut quire_feed,
        options: *const quire_feed_options,
        out_feed: *mut *mut quire_feed,
    ) -> quire_status;
    pub fn quire_set_attribute(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        name: quire_bytes,
        value: *const quire_bytes,
    ) -> quire_status;
    pub fn quire_prune(
        feed: *mut quire_feed,
        batch: *mut quire_batch,
        policy: *const quire_prune_policy,
        out_result: *mut quire_prune_result,
    ) -> quire_status;
}

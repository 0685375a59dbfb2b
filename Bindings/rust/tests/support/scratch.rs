//! Where the tests keep their caches, and what they fill them with.
use quire::{Answer, Batch, Error, Feed, Link, Place, Post, Status};
use std::path::PathBuf;

/// A path of one test, removed with what is there.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("quire-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Scratch(directory)
    }

    pub fn path(&self) -> PathBuf {
        self.0.join("cache.quire")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Posts "0" ... in one page.
pub fn fill(feed: &Feed, batch: Option<&Batch>, count: usize, body_size: usize) -> Result<(), Error> {
    let posts: Vec<_> =
        (0..count).map(|i| (i.to_string(), format!("{i}{}", ".".repeat(body_size)))).collect();
    let answer = Answer::new(posts.iter().map(|(id, body)| Post::new(id, body))).next(Link::token("next"));
    let request = feed.plan(batch, &Place::head())?;
    feed.ingest(batch, request.ticket(), &answer).map(drop)
}

pub fn status<T>(result: Result<T, Error>) -> Status {
    result.map_or_else(|error| error.status, |_| Status::Ok)
}

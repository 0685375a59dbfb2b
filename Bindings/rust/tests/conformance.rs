//! Replays conformance.json: every case in a cache of its own, every line through the crate.
//! QUIRE_CONFORMANCE names another file.
#[path = "support/json.rs"]
mod json;
#[path = "support/line.rs"]
mod line;
#[path = "support/picture.rs"]
mod picture;

use json::{Object, Value};
use line::{options, with_answer, Members};
use quire::{Alias, Ask, Cache, Crawl, Error, Feed, Outcome, Place, PrunePolicy, Update};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

struct Replay {
    cache: Cache,
    feeds: HashMap<String, Feed>,
    crawls: HashMap<String, Crawl>,
    tickets: HashMap<String, u64>,
    seen: Object,
}

impl Replay {
    fn see(&mut self, name: &str, value: Value) {
        self.seen.insert(name.into(), value);
    }

    fn line(&mut self, line: &Object) -> Result<(), Error> {
        self.seen.clear();
        let (op, name) = (line.text("op"), line.text("feed"));
        if op == "feed" {
            self.feeds.insert(name.into(), self.cache.feed_with(name, &options(line))?);
            return Ok(());
        }
        // Out of the map while the line is at work, so that `self` is free.
        let feed = self.feeds.remove(name).expect("an opened feed");
        self.step(op, line, &feed)?;
        if op != "crawl" {
            self.observe(&feed)?;
        }
        self.feeds.insert(name.into(), feed);
        Ok(())
    }

    fn step(&mut self, op: &str, line: &Object, feed: &Feed) -> Result<(), Error> {
        let id = || line.text("id");
        let message = line.number("number").map(|number| number as u64);
        match op {
            "plan" => self.plan(line, feed)?,
            "ingest" => {
                let ticket = self.tickets[line.text("ticket")];
                let outcome = with_answer(line, |answer| feed.ingest(None, ticket, answer))?;
                self.describe(&outcome);
            }
            "push" => {
                let follows = line.contains_key("follows").then(|| line.text("follows").as_bytes());
                let outcome = with_answer(line, |answer| feed.push(None, answer, message, follows))?;
                self.describe(&outcome);
            }
            "begin-live" => feed.begin_live(None, message)?,
            "end-live" => feed.end_live(None)?,
            "cancel" => feed.cancel(None, self.tickets[line.text("ticket")])?,
            "drop-link" => {
                let outcome = feed.drop_link(None, self.tickets[line.text("ticket")])?;
                self.describe(&outcome);
            }
            "crawl" => {
                let crawl = feed.crawl_from_head(line.number("start").unwrap() as u64)?;
                self.crawls.insert(line.text("crawl").into(), crawl);
            }
            "crawl-ingest" => {
                let page = line.number("page").map(|page| page as u64);
                let crawl = self.crawls.get_mut(line.text("crawl")).expect("a crawl");
                let outcome = with_answer(line, |answer| crawl.ingest(None, page, answer))?;
                self.describe(&outcome);
            }
            "delete" => feed.delete(None, id())?,
            "evict" => drop(feed.evict(None, line.list("posts"))?),
            "evict-page" => drop(feed.evict_page(line.number("index").unwrap() as u64)?),
            "prune" => self.prune(line, feed)?,
            "update" => self.update(line)?,
            "pin" => drop(feed.pin(None, id())?),
            "unpin" => drop(feed.unpin(None, id())?),
            "insert-local" => drop(feed.insert_local(None, id(), "")?),
            "remove-local" => drop(feed.remove_local(None, id())?),
            "alias" => self.unite(self.cache.add_alias(None, "", line.text("alias"), id())?),
            "confirm-local" => self.unite(feed.confirm_local(None, id(), line.text("server"))?),
            "reset" => feed.reset(None)?,
            "look" => (),
            other => panic!("unknown op {other}"),
        }
        Ok(())
    }

    fn prune(&mut self, line: &Object, feed: &Feed) -> Result<(), Error> {
        let policy = PrunePolicy {
            out_of_sequence: line.flag("out_of_sequence"),
            maximum_posts: line.number("maximum_posts").map(|posts| posts as u64),
            maximum_age: line.number("maximum_age"),
            now: line.number("now").unwrap_or(0),
            visible: line.list("visible").iter().map(String::as_bytes).collect(),
            budget: line.number("budget").unwrap_or(0) as u64,
            ..PrunePolicy::default()
        };
        self.see("done", Value::Flag(feed.prune(None, &policy)?.is_done));
        Ok(())
    }

    fn unite(&mut self, result: Alias) {
        let result = match result {
            Alias::United => "united",
            Alias::Noted => "noted",
            Alias::Same => "same",
            Alias::Missing => "missing",
            Alias::Other(_) => "unknown",
        };
        self.see("result", Value::Text(result.into()));
    }

    fn update(&mut self, line: &Object) -> Result<(), Error> {
        let names = line.list("names").iter().map(String::as_str);
        let fields: Vec<_> = names.zip(line.list("values")).collect();
        let version = line.number("version").unwrap();
        let result = match self.cache.update_fields(None, "", line.text("id"), &fields, version)? {
            Update::Changed => "changed",
            Update::Same => "same",
            Update::Stale => "stale",
            Update::Missing => "missing",
            Update::Other(_) => "unknown",
        };
        self.see("result", Value::Text(result.into()));
        Ok(())
    }

    fn plan(&mut self, line: &Object, feed: &Feed) -> Result<(), Error> {
        let gap = || -> Result<u64, Error> {
            let snapshot = self.cache.snapshot()?;
            let rank = usize::try_from(line.number("gap").unwrap()).unwrap_or(usize::MAX);
            let gaps = snapshot.gaps(feed).collect::<Result<Vec<_>, _>>()?;
            Ok(match gaps.get(rank) {
                Some(quire::Row::Gap(gap)) => gap.gap,
                _ => u64::MAX, // the number of a gap that is not there
            })
        };
        let join = || -> Result<String, Error> {
            let rows = self.cache.snapshot()?;
            let rows =
                rows.rows(feed).collect::<Result<Vec<_>, _>>()?.into_iter().filter_map(quire::Row::post);
            let rank = line.number("join").unwrap() as usize;
            Ok(rows
                .filter(|post| post.is_unverified)
                .nth(rank)
                .map_or("?".into(), |post| post.id.to_string()))
        };
        let below = if line.contains_key("join") { join()? } else { String::new() };
        let mut place = match line.text("place") {
            "head" => Place::head(),
            "tail" => Place::tail(),
            "open-head" => Place::open_head(),
            "around" => Place::around(line.text("target")),
            "bodies" => Place::bodies(line.list("posts")),
            "page" => Place::page(line.number("page").unwrap() as u64),
            "join" => Place::join(&below),
            "delta" => Place::delta(),
            "gap" => Place::gap(gap()?),
            "above-gap" => Place::above_gap(gap()?),
            other => panic!("place {other}"),
        };
        place = place.limit(line.number("limit").unwrap_or(0) as u32).bounded(line.flag("bounded"));
        if line.contains_key("link") {
            place = place.link(picture::link(line.text("link")));
        }
        let request = feed.plan(None, &place)?;

        let text = |text: &str| Value::Text(text.to_owned());
        let mut seen: Vec<(&str, Value)> = Vec::new();
        let mut limited = |kind: &str, limit: u64| {
            seen.push(("request", text(kind)));
            seen.push(("limit", Value::Number(limit as i64)));
        };
        match request.ask() {
            Ask::Nothing(refusal) => {
                limited("none", 0);
                seen.push(("refusal", text(refusal.name())));
            }
            Ask::Link { link, limit } => {
                limited("link", limit);
                seen.push(("link", Value::Text(picture::word(link))));
            }
            Ask::Position { position, limit } => {
                limited("position", limit);
                seen.push(("position", Value::Number(position as i64)));
            }
            Ask::Page { number, limit } => {
                limited("page", limit);
                seen.push(("position", Value::Number(number as i64)));
            }
            Ask::Around { target, limit } => {
                limited("around", limit);
                seen.push(("link", Value::Text(picture::text(target))));
            }
            Ask::Snapshot => limited("snapshot", 0),
            Ask::Bodies(ids) => {
                limited("bodies", 0);
                seen.push(("ids", Value::List(ids.iter().map(picture::text).collect())));
            }
            Ask::Delta { since } => {
                limited("delta", 0);
                seen.push(("link", Value::Text(picture::text(since))));
            }
            Ask::Other(kind) => panic!("request {kind}"),
        }
        seen.push(("help", text(request.help().map_or("", quire::Help::name))));
        seen.push(("overlapping", Value::Flag(request.is_overlapping())));
        seen.push(("until", Value::Text(picture::text(request.until().unwrap_or_default()))));
        seen.push(("ticket", Value::Number((request.ticket() % (1 << 28)) as i64)));
        self.seen.extend(seen.into_iter().map(|(name, value)| (name.to_owned(), value)));
        self.tickets.insert(line.text("as").into(), request.ticket());
        Ok(())
    }

    fn describe(&mut self, outcome: &Outcome) {
        self.see("outcome", Value::Text(outcome.verdict().name().into()));
        self.see("reason", Value::Text(outcome.reason().into()));
        self.see("help", Value::Text(outcome.help().map_or("", quire::Help::name).into()));
        let disproved = outcome.disproved_sizes().map_or(String::new(), picture::policy);
        self.see("disproved", Value::Text(disproved));
        let numbers = [
            ("page", outcome.page().unwrap_or(0)),
            ("duplicates_in_page", outcome.duplicates_in_page()),
            ("opaque_rows", outcome.opaque_rows()),
            ("gaps_closed", outcome.gaps_closed()),
            ("gaps_opened", outcome.gaps_opened()),
        ];
        for (name, number) in numbers {
            self.see(name, Value::Number(number as i64));
        }
        let lists = [
            ("added", outcome.added()),
            ("duplicates", outcome.duplicates()),
            ("moved", outcome.moved()),
            ("removed", outcome.removed()),
            ("kept", outcome.kept()),
            ("displaced", outcome.displaced()),
            ("ignored", outcome.ignored()),
            ("sticky", outcome.sticky()),
            ("disorder", outcome.disorder()),
            ("unplaced", outcome.unplaced()),
        ];
        for (name, ids) in lists {
            self.see(name, Value::List(ids.iter().map(picture::text).collect()));
        }
    }

    fn observe(&mut self, feed: &Feed) -> Result<(), Error> {
        let snapshot = self.cache.snapshot()?;
        let info = snapshot.info(feed)?;
        let seen = &mut self.seen;
        seen.insert("picture".into(), Value::Text(picture::show(&snapshot, feed)?));
        seen.insert("in_sequence".into(), Value::Flag(info.is_in_sequence));
        seen.insert("page_count".into(), Value::Number(info.pages as i64));
        seen.insert("assumed_end".into(), Value::Flag(info.is_end_assumed));
        seen.insert("against_order".into(), Value::Number(info.answers_against_order as i64));
        seen.insert("size".into(), Value::Number(info.rows_per_page.unwrap_or(0).into()));
        seen.insert("policy".into(), Value::Text(picture::policy(info.sizes)));
        picture::doubts(&snapshot, feed, seen)?;
        seen.insert("pages".into(), Value::List(picture::pages(&snapshot, feed)?));
        picture::posts(&snapshot, &self.cache, seen)?;
        picture::cross_check(&snapshot, feed)?;
        assert_eq!(self.cache.check(0)?, [], "the cache is sound");
        Ok(())
    }

    fn complaints(&self, line: &Object) -> Vec<String> {
        let expected = line.iter().filter_map(|(name, value)| Some((name.strip_prefix('=')?, value)));
        let wrong = expected.filter(|(name, value)| match (self.seen.get(*name), value) {
            // Of these, a line names only those it is about.
            (Some(Value::List(all)), Value::List(some))
                if ["pages", "fields", "references"].contains(name) =>
            {
                !some.iter().all(|one| all.contains(one))
            }
            (seen, value) => seen != Some(value),
        });
        wrong
            .map(|(name, value)| format!("{name} is {:?}, expected {value:?}", self.seen.get(name)))
            .collect()
    }
}

fn open(path: &Path) -> Replay {
    let _ = std::fs::remove_file(path);
    let cache = Cache::open(path).unwrap();
    Replay {
        cache,
        feeds: HashMap::new(),
        crawls: HashMap::new(),
        tickets: HashMap::new(),
        seen: Object::new(),
    }
}

#[test]
fn conformance() {
    let file = std::env::var_os("QUIRE_CONFORMANCE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance.json"), PathBuf::from);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let directory = std::env::temp_dir().join(format!("quire-replay-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("replay.quire");

    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    let mut replay = open(&path);
    for text in text.lines().filter(|text| !text.is_empty()) {
        let line = json::line(text).unwrap();
        if line.text("op") == "case" {
            drop(replay);
            replay = open(&path);
            cases.push((format!("{} {}", line.text("id"), line.text("title")), Vec::new()));
            continue;
        }
        let (_, complaints) = cases.last_mut().expect("a case begins the file");
        if !complaints.is_empty() {
            continue; // the case has failed: its later lines mean nothing
        }
        match replay.line(&line) {
            Ok(()) => complaints.extend(replay.complaints(&line)),
            Err(error) => complaints.push(format!("{:?}: {error}", error.status)),
        }
        complaints.iter_mut().for_each(|complaint| *complaint += &format!("\n     {text}"));
    }
    drop(replay);
    let _ = std::fs::remove_dir_all(&directory);

    let failed: Vec<_> = cases.iter().filter(|(_, complaints)| !complaints.is_empty()).collect();
    for (name, complaints) in &failed {
        println!("FAIL {name}\n     {}", complaints.join("\n     "));
    }
    println!("conformance: {} passed, {} failed", cases.len() - failed.len(), failed.len());
    assert!(failed.is_empty() && !cases.is_empty());
}

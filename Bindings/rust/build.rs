//! Finds libquire: in QUIRE_LIB_DIR, by pkg-config, or where the repository builds it. Links the archive, so that
//! programs need no run-time path; with the feature `shared` the shared library.
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=QUIRE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let is_shared = std::env::var_os("CARGO_FEATURE_SHARED").is_some();
    let has_profiles = std::env::var_os("CARGO_FEATURE_PROFILES").is_some();
    // The archive of the profiles holds all of libquire, too.
    let libraries: &[&str] = match (is_shared, has_profiles) {
        (true, true) => &["quire", "quire-profiles"],
        (false, true) => &["quire-profiles"],
        (_, false) => &["quire"],
    };
    let files: Vec<String> = libraries
        .iter()
        .map(|name| if is_shared { format!("lib{name}.so") } else { format!("lib{name}.a") })
        .collect();
    let directory = from_environment().or_else(from_pkg_config).or_else(|| from_repository(&files)).expect(
        "libquire was not found: set QUIRE_LIB_DIR, install quire.pc, or run `make lib` in the repository",
    );
    for file in &files {
        let path = directory.join(file);
        assert!(path.exists(), "{}: there is no such file", path.display());
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let directory = directory.display();
    println!("cargo:rustc-link-search=native={directory}");
    let kind = if is_shared { "dylib" } else { "static" };
    for name in libraries {
        println!("cargo:rustc-link-lib={kind}={name}");
    }
    if is_shared {
        // Tests and examples of this crate find it at run time as well; programs set their own path.
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    } else {
        // What quire.pc names as Libs.private.
        let simdjson: &[&str] = if has_profiles { &["simdjson"] } else { &[] };
        for name in [simdjson, &["stdc++", "m", "dl", "pthread", "lmdb"]].concat() {
            println!("cargo:rustc-link-lib=dylib={name}");
        }
    }
    println!("cargo:lib_dir={directory}");
}

fn from_environment() -> Option<PathBuf> {
    std::env::var_os("QUIRE_LIB_DIR").map(PathBuf::from)
}

fn from_pkg_config() -> Option<PathBuf> {
    let output = Command::new("pkg-config").args(["--variable=libdir", "quire"]).output().ok()?;
    let directory = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !directory.is_empty()).then(|| directory.into())
}

fn from_repository(files: &[String]) -> Option<PathBuf> {
    let build = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("../../build");
    files.iter().all(|file| build.join(file).exists()).then(|| build.canonicalize().ok())?
}

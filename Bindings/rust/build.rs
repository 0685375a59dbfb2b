//! Finds libquire: in QUIRE_LIB_DIR, by pkg-config, or where the repository builds it.
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=QUIRE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let directory = from_environment().or_else(from_pkg_config).or_else(from_repository).expect(
        "libquire was not found: set QUIRE_LIB_DIR, install quire.pc, or run `make lib` in the repository",
    );
    let directory = directory.display();
    println!("cargo:rustc-link-search=native={directory}");
    println!("cargo:rustc-link-lib=dylib=quire");
    // Tests and examples of this crate find it at run time as well; programs set their own path.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
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

fn from_repository() -> Option<PathBuf> {
    let build = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("../../build");
    build.join("libquire.so").exists().then(|| build.canonicalize().ok())?
}

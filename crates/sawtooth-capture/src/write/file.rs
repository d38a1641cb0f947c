//! A file that has its name once it is whole.
//!
//! It is written under another name in the same directory, and renamed at its end. Whoever is interrupted, or has no room, leaves no half of a file. Behind a symbolic link the file that it
//! leads to is replaced, and the link stays. What is there and is no regular file, such as a pipe, is left alone.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub struct UnfinishedFile {
    path: PathBuf,
    /// The name that it has until then.
    unfinished: PathBuf,
    out: BufWriter<File>,
    is_whole: bool,
}

impl UnfinishedFile {
    /// Begins one that is to have this path.
    ///
    /// # Errors
    /// If it cannot be made; as all functions here it says which file that is.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = &target(path)?;
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".part");
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished).map_err(|error| told(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            unfinished,
            out: BufWriter::with_capacity(1 << 16, file),
            is_whole: false,
        })
    }

    /// Nothing has been written.
    pub fn restart(&mut self) -> io::Result<()> {
        let restarted = self
            .out
            .rewind()
            .and_then(|()| self.out.get_mut().set_len(0));
        restarted.map_err(|error| told(&self.path, &error))
    }

    /// It is whole, and has its name from now on.
    pub fn finish(mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        let renamed = flushed.and_then(|()| fs::rename(&self.unfinished, &self.path));
        self.is_whole = renamed.is_ok();
        renamed.map_err(|error| told(&self.path, &error))
    }
}

impl Write for UnfinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.map_err(|error| told(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| told(&self.path, &error))
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // Who has no room for a file may still remove it; if not, its name says that it is no whole one.
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// The file that a name stands for, which may be new.
fn target(path: &Path) -> io::Result<PathBuf> {
    let Ok(named) = fs::symlink_metadata(path) else {
        return Ok(path.to_owned());
    };
    let target = if named.is_symlink() {
        fs::canonicalize(path).map_err(|error| told(path, &error))?
    } else {
        path.to_owned()
    };
    let found = fs::metadata(&target).map_err(|error| told(path, &error))?;
    if found.is_dir() {
        return Err(told(path, &io::ErrorKind::IsADirectory.into()));
    }
    if !found.is_file() {
        let text = format!(
            "{} cannot be written: it is no regular file",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(target)
}

fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{} cannot be written: {}", path.display(), error.kind()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::temp_dir;
    use std::process;

    fn directory(name: &str) -> PathBuf {
        let directory = temp_dir().join(format!("sawtooth-{}-{name}", process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        directory
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let name = |entry: io::Result<fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        entries.map(name).collect()
    }

    #[test]
    fn a_file_has_its_name_once_it_is_whole_and_an_interrupted_one_leaves_nothing() {
        let directory = directory("whole");
        let path = directory.join("a.pcapng");
        for (text, finishes) in [("first", true), ("second", false), ("third", true)] {
            let mut file = UnfinishedFile::create(&path).expect("a file");
            file.write_all(b"what does not count").expect("room");
            file.restart().expect("a file");
            file.write_all(text.as_bytes()).expect("room");
            assert!(names(&directory).contains(&".a.pcapng.part".to_owned()));
            if finishes {
                file.finish().expect("room");
                assert_eq!(fs::read(&path).expect("the file"), text.as_bytes());
            } else {
                drop(file);
                assert_eq!(fs::read(&path).expect("the file"), b"first");
            }
            assert_eq!(names(&directory), ["a.pcapng"]);
        }
        fs::remove_dir_all(directory).expect("what was made");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let directory = directory("named");
        let missing = directory.join("none/a.pcapng");
        let error = UnfinishedFile::create(&missing).expect_err("no such directory");
        assert_eq!(
            error.to_string(),
            format!("{} cannot be written: entity not found", missing.display())
        );
        let error = UnfinishedFile::create(&directory).expect_err("a directory");
        assert_eq!(
            error.to_string(),
            format!("{} cannot be written: is a directory", directory.display())
        );
        fs::remove_dir_all(directory).expect("what was made");
    }

    #[cfg(unix)]
    #[test]
    fn behind_a_link_its_file_is_replaced_and_what_is_no_file_is_left_alone() {
        let directory = directory("links");
        let [file, link, lost] =
            ["a.pcapng", "link.pcapng", "lost.pcapng"].map(|name| directory.join(name));
        fs::write(&file, "before").expect("room");
        std::os::unix::fs::symlink("a.pcapng", &link).expect("a link");
        std::os::unix::fs::symlink("none", &lost).expect("a link");
        let mut written = UnfinishedFile::create(&link).expect("a file");
        written.write_all(b"after").expect("room");
        written.finish().expect("room");
        assert_eq!(fs::read(&file).expect("the file"), b"after");
        let is_link = fs::symlink_metadata(&link)
            .expect("it is there")
            .is_symlink();
        assert!(is_link);
        let error = UnfinishedFile::create(&lost).expect_err("no file");
        assert_eq!(
            error.to_string(),
            format!("{} cannot be written: entity not found", lost.display())
        );
        let error = UnfinishedFile::create(Path::new("/dev/null")).expect_err("no file");
        assert_eq!(
            error.to_string(),
            "/dev/null cannot be written: it is no regular file"
        );
        fs::remove_dir_all(directory).expect("what was made");
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = Path::new("/dev/full");
        let Ok(file) = File::create(full) else {
            return;
        };
        let mut file = UnfinishedFile {
            path: "a.pcapng".into(),
            unfinished: "no such file".into(),
            out: BufWriter::new(file),
            is_whole: false,
        };
        file.write_all(&[0; 100]).expect("it is kept at first");
        let error = file.finish().expect_err("no room");
        assert_eq!(
            error.to_string(),
            "a.pcapng cannot be written: no storage space"
        );
    }
}

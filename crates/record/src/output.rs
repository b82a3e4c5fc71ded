//! Where lines end up: standard output, or a file that is rotated.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{fd::AsFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Where the access log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Standard output of the process.
    Stdout,
    /// A file, appended to.
    File {
        /// Its path; the folder must exist.
        path: PathBuf,
        /// When it is replaced by a new one; never, when somebody else rotates it.
        rotation: Option<Rotation>,
    },
}

/// Rotation by size: `access.log` becomes `access.log.1`, that `.2`, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Bytes a file holds at most; a single batch that is larger still goes into one.
    pub size: u64,
    /// How many old files are kept.
    pub keep: u32,
}

/// An output while it is written to.
#[derive(Debug)]
pub(crate) struct Sink {
    output: Output,
    file: Option<File>,
    /// Bytes in the file; `None` when it is not a regular one, and cannot be rotated.
    size: Option<u64>,
}

impl Sink {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            output,
            file: None,
            size: None,
        }
    }

    /// Opens the output again before the next write.
    pub(crate) fn close(&mut self) {
        self.file = None;
        self.size = None;
    }

    /// Opens the output if it is not, and makes room for a batch by rotating.
    ///
    /// # Errors
    /// When it cannot be opened. A rotation that fails is told by the second value, and the file goes on growing.
    pub(crate) fn prepare(&mut self, coming: usize) -> io::Result<Option<io::Error>> {
        self.open()?;
        let Output::File {
            path,
            rotation: Some(rotation),
        } = &self.output
        else {
            return Ok(None);
        };
        let coming = u64::try_from(coming).unwrap_or(u64::MAX);
        let full = self
            .size
            .is_some_and(|size| size > 0 && size.saturating_add(coming) > rotation.size);
        if !full {
            return Ok(None);
        }
        if let Err(error) = rotate(path, rotation.keep) {
            return Ok(Some(error));
        }
        self.close();
        self.open()?;
        Ok(None)
    }

    /// Writes what it can; the number of bytes taken.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?;
        let Some(file) = &mut self.file else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        match file.write(bytes)? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            taken => {
                let more = u64::try_from(taken).unwrap_or(u64::MAX);
                self.size = self.size.map(|size| size.saturating_add(more));
                Ok(taken)
            }
        }
    }

    fn open(&mut self) -> io::Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        let file = match &self.output {
            // A descriptor of our own goes past the line buffer of the standard library, which
            // would hide how much of a batch has really gone out.
            Output::Stdout => File::from(io::stdout().as_fd().try_clone_to_owned()?),
            // Addresses of people are in it: not for everybody to read.
            Output::File { path, .. } => OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o640)
                .open(path)?,
        };
        let metadata = file.metadata()?;
        self.size = metadata.is_file().then_some(metadata.len());
        self.file = Some(file);
        Ok(())
    }
}

fn rotate(path: &Path, keep: u32) -> io::Result<()> {
    for number in (1..keep).rev() {
        move_if_there(&numbered(path, number), &numbered(path, number + 1))?;
    }
    if keep == 0 {
        return fs::remove_file(path);
    }
    move_if_there(path, &numbered(path, 1))
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

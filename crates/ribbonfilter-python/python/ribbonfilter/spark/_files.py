"""Files on a local or mounted file system, and on those that Hadoop accesses."""

import os
import re
import shutil
import tempfile
import uuid
import warnings
from contextlib import contextmanager

from .. import Shards

try:
    from py4j.protocol import Py4JJavaError
except ImportError:

    class Py4JJavaError(Exception):
        """Never raised: a Spark Connect client has no Java."""


def hadoop(spark, path):
    """Hadoop's objects for the file system and the path, or None if the file is local.

    A path without a scheme is on Spark's default file system. A Spark Connect client does not know
    that file system, so there such a path is local."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        if "://" in path and not path.startswith("file:"):
            raise ValueError(f"a Spark Connect client can only use local paths, not {path}")
        return None
    with java_errors(path):
        qualified = jvm.org.apache.hadoop.fs.Path(path)
        files = qualified.getFileSystem(_configuration(spark))
        qualified = files.makeQualified(qualified)
    return None if files.getUri().getScheme() == "file" else (files, qualified)


def _configuration(spark):
    """The configuration that Spark's own readers and writers use, with the settings of the session."""
    return spark._jsparkSession.sessionState().newHadoopConf()


@contextmanager
def java_errors(path):
    """Raises Hadoop's errors as the matching Python exceptions."""
    try:
        yield
    except Py4JJavaError as error:
        text = error.java_exception.toString()
        kind = next((kind for name, kind in ERRORS.items() if name in text), OSError)
        raise kind(f"{path}: {text}") from error


ERRORS = {
    "FileNotFoundException": FileNotFoundError,
    "FileAlreadyExistsException": FileExistsError,
    "AccessControlException": PermissionError,
}


def local(path):
    """A local path without its scheme."""
    return os.path.abspath(re.sub("^file:(//)?", "", path))


def literally(path):
    """A path for Spark's readers, with the characters escaped that they treat as patterns."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


# The schemes of file systems that can replace a file atomically by renaming. Object stores cannot,
# but there an object becomes visible once it is complete.
RENAMES = ("hdfs", "viewfs")


class Target:
    """A file that is written completely or not at all, and the temporary directories of its build.

    `stage` is where Spark writes shards, `scratch` a local directory of the driver. Both are removed
    at the end, also after an error."""

    @staticmethod
    def of(spark, path):
        path = os.fspath(path)
        found = hadoop(spark, path)
        return HadoopTarget(spark, *found) if found else LocalTarget(local(path))

    def __enter__(self):
        try:
            self.create()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()


class LocalTarget(Target):
    def __init__(self, path):
        self.path = path
        self.directory = f"{path}.{uuid.uuid4().hex}.shards"
        self.stage = f"file://{self.directory}/shards"
        self.scratch = f"{self.directory}/scratch"

    def create(self):
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"the path of a filter must be a file, but is a directory: {self.path}")
        os.mkdir(self.directory)
        os.mkdir(self.scratch)

    def commit(self, shards):
        return Shards.assemble(shards, self.path)

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class HadoopTarget(Target):
    created = False
    scratch = None

    def __init__(self, spark, files, path):
        self.spark, self.files, self.path = spark, files, path
        self.directory = self._path(f"{path.toString()}.{uuid.uuid4().hex}.shards")
        self.stage = f"{self.directory.toString()}/shards"

    def _path(self, text):
        return self.spark._jvm.org.apache.hadoop.fs.Path(text)

    def create(self):
        path = self.path.toString()
        with java_errors(path):
            if self.files.exists(self.path) and self.files.getFileStatus(self.path).isDirectory():
                raise IsADirectoryError(f"the path of a filter must be a file, but is a directory: {path}")
            if not self.files.mkdirs(self.directory):
                raise OSError(f"cannot create the directory {self.directory.toString()}")
        self.created = True
        self.scratch = tempfile.mkdtemp(prefix="ribbon-")

    def commit(self, shards):
        assembled = os.path.join(self.scratch, "assembled")
        filter = Shards.assemble(list(shards), assembled)
        with java_errors(self.path.toString()):
            if self.path.toUri().getScheme() in RENAMES:
                draft = self._path(f"{self.directory.toString()}/assembled")
                self._upload(assembled, draft)
                self._rename(draft)
            else:
                self._upload(assembled, self.path)
        return filter  # The map outlives the file, which is removed.

    def _upload(self, source, path):
        """Copies a local file and overwrites an existing one."""
        self.files.copyFromLocalFile(False, True, self._path(f"file://{source}"), path)

    def _rename(self, draft):
        """Replaces the target by `draft` atomically."""
        hadoop = self.spark._jvm.org.apache.hadoop.fs
        overwrite = self.spark.sparkContext._gateway.new_array(hadoop.Options.Rename, 1)
        overwrite[0] = hadoop.Options.Rename.OVERWRITE
        context = hadoop.FileContext.getFileContext(self.path.toUri(), _configuration(self.spark))
        context.rename(draft, self.path, overwrite)

    def remove(self):
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        if not self.created:
            return
        # A directory that cannot be removed does not change the outcome of the build.
        try:
            self.files.delete(self.directory, True)
        except Py4JJavaError as error:
            text = error.java_exception.toString()
            warnings.warn(f"cannot remove the directory {self.directory.toString()}: {text}", stacklevel=2)

"""Where files are: on a file system that all see as a local one, or behind Hadoop."""

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
        """Never raised: a client of Spark Connect has no Java."""


def hadoop(spark, path):
    """The file system and the path as Hadoop has them; nothing if both are local.

    A path without a scheme belongs to the file system that Spark takes it for. A client of Spark
    Connect cannot ask: there it is local."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        if "://" in path and not path.startswith("file:"):
            raise ValueError(f"a client of Spark Connect can only use local paths, not {path}")
        return None
    with java_errors(path):
        place = jvm.org.apache.hadoop.fs.Path(path)
        files = place.getFileSystem(_configuration(spark))
        place = files.makeQualified(place)
    return None if files.getUri().getScheme() == "file" else (files, place)


def _configuration(spark):
    """What Spark's own readers and writers go by, settings of the session included."""
    return spark._jsparkSession.sessionState().newHadoopConf()


@contextmanager
def java_errors(path):
    """Errors of Hadoop as Python has them."""
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
    """A path for Spark's readers, to whom some characters are patterns."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


# Where a file takes the place of another in one step. Object stores have no such step, but there a
# file appears when it is complete.
RENAMES = ("hdfs", "viewfs")


class Target:
    """A file that is there whole or not at all, and folders to make it in.

    `stage` is where Spark writes shards, `scratch` a local folder of the driver. Both go when the
    work is done, or has failed."""

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
        self.folder = f"{path}.{uuid.uuid4().hex}.shards"
        self.stage = f"file://{self.folder}/shards"
        self.scratch = f"{self.folder}/scratch"

    def create(self):
        if os.path.isdir(self.path):
            raise IsADirectoryError(f"the filter is a file, but this is a folder: {self.path}")
        os.mkdir(self.folder)
        os.mkdir(self.scratch)

    def commit(self, shards):
        return Shards.assemble(shards, self.path)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class HadoopTarget(Target):
    made = False
    scratch = None

    def __init__(self, spark, files, path):
        self.spark, self.files, self.path = spark, files, path
        self.folder = self._path(f"{path.toString()}.{uuid.uuid4().hex}.shards")
        self.stage = f"{self.folder.toString()}/shards"

    def _path(self, text):
        return self.spark._jvm.org.apache.hadoop.fs.Path(text)

    def create(self):
        path = self.path.toString()
        with java_errors(path):
            if self.files.exists(self.path) and self.files.getFileStatus(self.path).isDirectory():
                raise IsADirectoryError(f"the filter is a file, but this is a folder: {path}")
            if not self.files.mkdirs(self.folder):
                raise OSError(f"the folder {self.folder.toString()} cannot be made")
        self.made = True
        self.scratch = tempfile.mkdtemp(prefix="ribbon-")

    def commit(self, shards):
        whole = os.path.join(self.scratch, "whole")
        filter = Shards.assemble(list(shards), whole)
        with java_errors(self.path.toString()):
            if self.path.toUri().getScheme() in RENAMES:
                draft = self._path(f"{self.folder.toString()}/whole")
                self._upload(whole, draft)
                self._rename(draft)
            else:
                self._upload(whole, self.path)
        return filter  # Its file goes; what is mapped stays.

    def _upload(self, whole, path):
        """Copies a local file, over another if there is one."""
        self.files.copyFromLocalFile(False, True, self._path(f"file://{whole}"), path)

    def _rename(self, draft):
        """Puts a file where the target is, in one step."""
        hadoop = self.spark._jvm.org.apache.hadoop.fs
        overwrite = self.spark.sparkContext._gateway.new_array(hadoop.Options.Rename, 1)
        overwrite[0] = hadoop.Options.Rename.OVERWRITE
        context = hadoop.FileContext.getFileContext(self.path.toUri(), _configuration(self.spark))
        context.rename(draft, self.path, overwrite)

    def remove(self):
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        if not self.made:
            return
        # What was built is there or not, whatever stays behind of the way to it.
        try:
            self.files.delete(self.folder, True)
        except Py4JJavaError as error:
            text = error.java_exception.toString()
            warnings.warn(f"{self.folder.toString()} is left behind: {text}", stacklevel=2)

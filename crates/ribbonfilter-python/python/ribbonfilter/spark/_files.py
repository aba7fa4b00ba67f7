"""Where files are: on a file system that all see as a local one, or behind Hadoop."""

import os
import shutil
import tempfile
import uuid
from urllib.parse import urlsplit

from .. import Shards


def hadoop(spark, path):
    """The file system and the path as Hadoop has them; nothing if both are local.

    A path without a scheme belongs to the file system that Spark takes it for. A client of Spark
    Connect cannot ask: there it is local."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        if urlsplit(path).scheme not in ("", "file"):
            raise ValueError(f"{path}: a client of Spark Connect can only use local paths")
        return None
    place = jvm.org.apache.hadoop.fs.Path(path)
    files = place.getFileSystem(spark._jsc.hadoopConfiguration())
    return None if files.getScheme() == "file" else (files, files.makeQualified(place))


def local(path):
    """A local path without its scheme."""
    parts = urlsplit(path)
    return os.path.abspath(parts.path if parts.scheme == "file" else path)


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
        self.create()
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
    def __init__(self, spark, files, path):
        self.spark, self.files, self.path = spark, files, path
        self.folder = self._path(f"{path.toString()}.{uuid.uuid4().hex}.shards")
        self.stage = f"{self.folder.toString()}/shards"

    def _path(self, text):
        return self.spark._jvm.org.apache.hadoop.fs.Path(text)

    def create(self):
        from py4j.protocol import Py4JJavaError

        try:
            if self.files.exists(self.path) and self.files.getFileStatus(self.path).isDirectory():
                raise IsADirectoryError(f"the filter is a file, but this is a folder: {self.path.toString()}")
            self.files.mkdirs(self.folder)
        except Py4JJavaError as error:
            raise OSError(f"{self.path.toString()}: {error.java_exception.toString()}") from error
        self.scratch = tempfile.mkdtemp(prefix="ribbon-")

    def commit(self, shards):
        whole = os.path.join(self.scratch, "whole")
        filter = Shards.assemble(list(shards), whole)
        draft = self._path(f"{self.folder.toString()}/whole")
        self.files.copyFromLocalFile(False, True, self._path(f"file://{whole}"), draft)
        jvm = self.spark._jvm
        rename = jvm.org.apache.hadoop.fs.Options.Rename
        overwrite = self.spark.sparkContext._gateway.new_array(rename, 1)
        overwrite[0] = rename.OVERWRITE
        context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self.path.toUri(), self.spark._jsc.hadoopConfiguration()
        )
        context.rename(draft, self.path, overwrite)
        return filter  # Its file goes; what is mapped stays.

    def remove(self):
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.files.delete(self.folder, True)

"""A Spark cluster of two executors, each in its own process, on this machine."""

import os
import signal
import sys
import threading
import time
from pathlib import Path


def start(**settings):
    """Starts a session; keyword arguments are settings of Spark."""
    os.environ.pop("SPARK_HOME", None)
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("ribbonfilter")
    fixed = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    for name, value in {**fixed, **settings}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def executors(spark):
    """The process ids of the executors: children of the driver's JVM."""
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = status.read_text().split("PPid:")[1].split()[0]
            command = (status.parent / "cmdline").read_text()
        except (OSError, IndexError):
            continue  # The process has ended in the meantime.
        if int(parent) == driver and "CoarseGrainedExecutorBackend" in command:
            found.append(int(status.parent.name))
    return found


class Killer(threading.Thread):
    """Kills one executor as soon as `due` is true for an active stage."""

    def __init__(self, spark, due):
        super().__init__(daemon=True)
        self.spark, self.due, self.killed, self.over = spark, due, None, False

    def run(self):
        tracker = self.spark.sparkContext.statusTracker()
        while not self.over:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage is not None and self.due(stage) for stage in stages):
                self.killed = executors(self.spark)[0]
                os.kill(self.killed, signal.SIGKILL)
                return
            time.sleep(0.02)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()

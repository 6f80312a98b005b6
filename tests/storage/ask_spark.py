"""`python ask_spark.py FOLDER STATEMENT`: the rows of a statement about `boxes` by Spark, as JSON.

It needs pyspark and Java, and nothing of ours: `build/spark` has a Python of its own (`make spark`).
"""

import json
import sys

from pyspark.sql import SparkSession

folder, statement = sys.argv[1:]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.read.parquet(folder).createOrReplaceTempView("boxes")
sys.stdout.write(json.dumps([list(row) for row in spark.sql(statement).collect()]))
spark.stop()

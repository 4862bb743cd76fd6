"""What the op table does not cover, each with the reason; these tables are there to shrink."""

_words = str.split

_FILES = "touches files: tests of the saver and of file policy"
_SUMMARY = "tests of summaries"
_BRANCH = "needs two branches: tests of conditionals"
_FED = "is fed, never run"
_QUEUE = "needs a queue, and several threads: tests of queues"
_READER = "reads files: tests of readers"
_STACK = "needs a handle: tests of queues"
_TABLE = "needs a handle: tests of lookup tables"
_LOOP = "needs a while loop: tests of loops"
_ARRAY = "needs a handle: tests of tensor arrays"
_VARIABLE = "made by the cases of its own consumers"

PENDING: dict[str, str] = {
    "DestroyResourceOp": "leaves nothing to read",
    "HistogramSummary": _SUMMARY,
    "Merge": _BRANCH,
    "LookupTableRemoveV2": _TABLE,
    "FakeQueue": _TABLE,
    "RecordInput": _READER,
    "MergeSummary": _SUMMARY,
    "MergeV2Checkpoints": _FILES,
    "ParallelConcat": "needs known shapes: tests of functions",
    "Placeholder": _FED,
    "PlaceholderV2": _FED,
    "ReadFile": _FILES,
    "RefIdentity": "its output aliases the variable: tests of ref variables",
    "RefMerge": _BRANCH,
    "RefSwitch": _BRANCH,
    "Restore": _FILES,
    "RestoreSlice": _FILES,
    "RestoreV2": _FILES,
    "Save": _FILES,
    "SaveSlices": _FILES,
    "SaveV2": _FILES,
    "ScalarSummary": _SUMMARY,
    "ShardedFilename": _FILES,
    "ShardedFilespec": _FILES,
    "Switch": _BRANCH,
    "VarHandleOp": _VARIABLE,
    "Variable": _VARIABLE,
    "VariableV2": _VARIABLE,
    "WriteFile": _FILES,
}

PENDING.update(
    {
        f"{name}{version}": reason
        for reason, names in (
            (_QUEUE, "FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue"),
            (_QUEUE, "QueueClose QueueDequeue QueueDequeueMany QueueDequeueUpTo"),
            (_QUEUE, "QueueEnqueue QueueEnqueueMany QueueIsClosed QueueSize"),
            (_TABLE, "HashTable MutableHashTable MutableHashTableOfTensors MutableDenseHashTable"),
            (_TABLE, "InitializeTable InitializeTableFromTextFile"),
            (_TABLE, "LookupTableExport LookupTableFind LookupTableImport LookupTableInsert LookupTableSize"),
            (_STACK, "Stack StackClose StackPop StackPush"),
            (_READER, "FixedLengthRecordReader IdentityReader TFRecordReader TextLineReader WholeFileReader"),
            (
                _READER,
                "ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted ReaderRead ReaderReadUpTo ReaderReset "
                "ReaderSerializeState ReaderRestoreState",
            ),
        )
        for name in names.split()
        for version in ("", "V2")
    }
)

# Gradients that no case checks against a difference.
_STRAIGHT = "the gradient goes straight through: compared with TensorFlow's"
UNDIFFERENTIATED: dict[str, str] = {
    **dict.fromkeys(
        [
            "FakeQuantWithMinMaxArgs",
            "FakeQuantWithMinMaxVars",
            "FakeQuantWithMinMaxVarsPerChannel",
            "QuantizeAndDequantize",
            "QuantizeAndDequantizeV2",
            "QuantizeAndDequantizeV3",
        ],
        _STRAIGHT,
    ),
    "Batch": "each run has a number of its own: tests of batching",
    "Unbatch": "its gradient is that of all runs: tests of batching",
    "Cholesky": "of symmetric matrices only: tests of linear algebra",
    "MaxPool3DGradGrad": "its gradient has no double precision: compared with TensorFlow's",
    "NextAfter": "it is a step: compared with TensorFlow's",
    "RandomGamma": "the numbers jump where one is rejected: compared with TensorFlow's",
    "PreventGradient": "asking for it is an error",
    "ReadVariableOp": "by a handle: tests of variables",
    "ResourceGather": "by a handle: tests of variables",
    "ResourceGatherNd": "by a handle: tests of state",
}

# Ops that came after TensorFlow 1.15, which files of TensorFlow 2 use. TensorFlow itself checks them.
LATER_OPS = frozenset(
    _words(
        """
    AnonymousIteratorV3 AnonymousSeedGenerator DeleteSeedGenerator DummyMemoryCache DummySeedGenerator
    FinalizeDataset OptionsDataset ParallelBatchDataset ParallelFilterDataset ParallelInterleaveDatasetV3
    LegacyParallelInterleaveDatasetV2
    ParallelInterleaveDatasetV4 ParallelMapDatasetV2 ParseExampleDatasetV2 ParseExampleV2 RewriteDataset
    ShuffleDatasetV3 StatelessCase DisableCopyOnRead
    RngReadAndSkip StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg
    StatelessRandomNormalV2 StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
    StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2
    """
    )
)

# Attributes of later versions of TensorFlow that we declare on top of 1.15's.
EXTRA_ATTRS: dict[str, tuple[str, ...]] = {}

PENDING.update(
    dict.fromkeys(
        ["Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond"],
        _LOOP,
    )
)

PENDING.update(
    dict.fromkeys(
        [
            "TensorArrayV3",
            "TensorArrayGradV3",
            "TensorArrayGradWithShape",
            "TensorArrayWriteV3",
            "TensorArrayReadV3",
            "TensorArrayGatherV3",
            "TensorArrayScatterV3",
            "TensorArrayConcatV3",
            "TensorArraySplitV3",
            "TensorArraySizeV3",
            "TensorArrayCloseV3",
        ],
        _ARRAY,
    )
)

PENDING.update(
    dict.fromkeys(
        [
            *("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "StatelessWhile"),
            *("Case", "StatelessCase", "FakeParam", "For", "RemoteCall", "SymbolicGradient"),
        ],
        "calls a function of a library: tests of functions",
    )
)

PENDING.update(
    dict.fromkeys(
        [
            "EmptyTensorList",
            "OptionalFromValue",
            "OptionalGetValue",
            "OptionalHasValue",
            "OptionalNone",
            "TensorListConcat",
            "TensorListConcatLists",
            "TensorListConcatV2",
            "TensorListElementShape",
            "TensorListFromTensor",
            "TensorListGather",
            "TensorListGetItem",
            "TensorListLength",
            "TensorListPopBack",
            "TensorListPushBack",
            "TensorListPushBackBatch",
            "TensorListReserve",
            "TensorListResize",
            "TensorListScatter",
            "TensorListScatterIntoExistingList",
            "TensorListScatterV2",
            "TensorListSetItem",
            "TensorListSplit",
            "TensorListStack",
        ],
        "needs a variant: tests of tensor lists",
    )
)

_DATASETS = _words(
    """
    AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 AnonymousMemoryCache
    AnonymousRandomSeedGenerator AnonymousSeedGenerator AssertNextDataset BatchDataset BatchDatasetV2
    CacheDataset CacheDatasetV2 ConcatenateDataset DatasetCardinality DatasetToSingleElement DeleteIterator
    DeleteMemoryCache DeleteRandomSeedGenerator DeleteSeedGenerator DenseToSparseBatchDataset
    DirectedInterleaveDataset DummyMemoryCache DummySeedGenerator FilterByLastComponentDataset FilterDataset
    FinalizeDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset
    GroupByReducerDataset GroupByWindowDataset IgnoreErrorsDataset InterleaveDataset Iterator
    IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetDevice IteratorGetNext
    IteratorGetNextAsOptional IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator
    MapAndBatchDataset MapDataset MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset
    OneShotIterator OptimizeDataset OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2
    ParseExampleDataset ParseExampleDatasetV2
    ParallelBatchDataset ParallelFilterDataset ParallelInterleaveDataset ParallelInterleaveDatasetV2
    ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4 ParallelMapDataset ParallelMapDatasetV2
    PrefetchDataset PrivateThreadPoolDataset RandomDataset RangeDataset ReduceDataset RepeatDataset
    RewriteDataset SamplingDataset ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset
    ShuffleDatasetV2 ShuffleDatasetV3 SkipDataset SlidingWindowDataset SparseTensorSliceDataset TakeDataset
    TakeWhileDataset TensorDataset TensorSliceDataset TextLineDataset TFRecordDataset UnbatchDataset
    UniqueDataset UnwrapDatasetVariant WindowDataset WrapDatasetVariant ZipDataset
    BytesProducedStatsDataset ChooseFastestDataset CSVDataset DatasetToTFRecord DeserializeIterator
    LegacyParallelInterleaveDatasetV2
    AnonymousMultiDeviceIterator DeleteMultiDeviceIterator MultiDeviceIterator
    MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorInit
    MultiDeviceIteratorToStringHandle LatencyStatsDataset MapDefun MatchingFiles MatchingFilesDataset
    SerializeIterator
    SetStatsAggregatorDataset SleepDataset SqlDataset StatsAggregatorHandle StatsAggregatorHandleV2
    AutoShardDataset RebatchDataset SnapshotDataset ThreadPoolDataset ThreadPoolHandle
"""
)
PENDING.update(dict.fromkeys(_DATASETS, "needs a dataset: tests of tf.data"))
PENDING.update({f"Experimental{name}": "as the op without that word" for name in _DATASETS})
PENDING.update(dict.fromkeys(["PyFunc", "PyFuncStateless"], "calls a Python function: tests of tf.data"))

PENDING.update(
    {
        **dict.fromkeys(["RefSelect", "TemporaryVariable", "DestroyTemporaryVariable"], "tests of state"),
        **dict.fromkeys(["GetSessionHandle", "GetSessionHandleV2"], "tests of state"),
        **dict.fromkeys(["GetSessionTensor", "DeleteSessionTensor", "Abort"], "tests of state"),
    }
)
PENDING["Timestamp"] = "another time at each run: tests of printing"
PENDING["TakeManySparseFromTensorsMap"] = "needs handles: tests of sparse tensors"

PENDING.update(
    dict.fromkeys(
        [
            *("DecodePng", "EncodePng", "DecodeJpeg", "DecodeAndCropJpeg", "ExtractJpegShape", "EncodeJpeg"),
            *("EncodeJpegVariableQuality", "DecodeGif", "DecodeBmp"),
        ],
        "image files, which every encoder writes its own way: tests of image files",
    )
)
PENDING.update(
    dict.fromkeys(
        ["ImageSummary", "AudioSummary", "AudioSummaryV2", "TensorSummary", "TensorSummaryV2"], _SUMMARY
    )
)

PENDING.update(
    dict.fromkeys(
        [
            *("Stage", "Unstage", "StagePeek", "StageSize", "StageClear"),
            *(
                f"{prefix}Map{what}"
                for prefix in ("", "Ordered")
                for what in _words("Stage Unstage UnstageNoKey Peek Size IncompleteSize Clear")
            ),
            *(
                f"{prefix}{what}"
                for prefix in ("", "Resource")
                for what in (
                    "ConditionalAccumulator",
                    "AccumulatorApplyGradient",
                    "AccumulatorNumAccumulated",
                    "AccumulatorSetGlobalStep",
                    "AccumulatorTakeGradient",
                )
            ),
            "SparseConditionalAccumulator",
            "SparseAccumulatorApplyGradient",
            "SparseAccumulatorTakeGradient",
            *("Barrier", "BarrierInsertMany", "BarrierTakeMany", "BarrierClose"),
            *("BarrierReadySize", "BarrierIncompleteSize"),
            *("MutexV2", "MutexLock", "ConsumeMutexLock"),
        ],
        "lives in a session, over several runs: tests of coordination",
    )
)

PENDING.update(
    dict.fromkeys(
        [
            *("TensorArray", "TensorArrayV2", "TensorArrayPack", "TensorArrayUnpack"),
            *(
                f"TensorArray{what}{version}"
                for what in ["Grad", "Write", "Read", "Gather", "Scatter", "Concat", "Split", "Size", "Close"]
                for version in ("", "V2")
            ),
        ],
        "needs a handle: tests of old tensor arrays",
    )
)
PENDING.update(
    dict.fromkeys(["RaggedTensorToVariant", "RaggedTensorFromVariant"], "needs a variant: tests of parsing")
)
PENDING.update(
    dict.fromkeys(
        ["GenerateVocabRemapping", "LoadAndRemapMatrix", "Skipgram", "NegTrain"],
        "reads files: tests of words",
    )
)
PENDING.update(
    dict.fromkeys(
        [
            *("SummaryWriter", "CreateSummaryFileWriter", "FlushSummaryWriter", "CloseSummaryWriter"),
            *("WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary", "WriteAudioSummary"),
            *("WriteSummary", "WriteRawProtoSummary", "WriteGraphSummary", "ImportEvent"),
        ],
        "writes files: tests of summary writers",
    )
)
PENDING["ImmutableConst"] = "reads files: tests of words"
PENDING["BatchFunction"] = "calls a function of a library: tests of batching"
PENDING["DebugGradientRefIdentity"] = "its output aliases the variable: as RefIdentity"
PENDING["DisableCopyOnRead"] = "by a handle: tests of variables"

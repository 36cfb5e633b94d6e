"""Which coordinates a rank has and which layers it holds, by Megatron Core's order of ranks: tp-cp-dp-pp for dense layers, etp-ep-(expert dp)-pp
for experts."""


class ParallelLayout:
    def __init__(self, document, rank):
        sizes = document["parallel"]
        self.tensor, self.context = sizes["tensor_model_parallel_size"], sizes["context_parallel_size"]
        self.pipeline, self.num_chunks = sizes["pipeline_model_parallel_size"], sizes["virtual_pipeline_model_parallel_size"] or 1
        self.expert, self.expert_tensor = sizes["expert_model_parallel_size"], sizes["expert_tensor_parallel_size"]
        self.sequence_parallel, self.sizes = sizes["sequence_parallel"], sizes
        stage_size = sizes["world_size"] // self.pipeline
        in_stage = rank % stage_size
        self.pipeline_rank = rank // stage_size
        self.tensor_rank, self.context_rank = rank % self.tensor, rank // self.tensor % self.context
        self.data = stage_size // (self.tensor * self.context)
        self.data_context, self.data_context_rank = self.context * self.data, in_stage // self.tensor
        experts = self.expert_tensor * self.expert
        self.expert_data, self.expert_data_rank = stage_size // experts, in_stage // experts
        self.num_microbatches = document["training"]["global_batch_size"] // (document["training"]["micro_batch_size"] * self.data)
        self.num_layers = document["model"]["fields"]["num_layers"]

    def layers_of_stages(self):
        """Number of layers of each virtual stage, in the order in which a token meets them."""
        first, last = self.sizes["num_layers_in_first_pipeline_stage"], self.sizes["num_layers_in_last_pipeline_stage"]
        embedding, loss = self.sizes["account_for_embedding_in_pipeline_split"], self.sizes["account_for_loss_in_pipeline_split"]
        given = [count for count in (first, last) if count is not None]
        if given:
            middle = (self.num_layers - sum(given)) // max(self.pipeline - len(given), 1)
            per_rank = [first or middle] + [middle] * (self.pipeline - 2) + [last or middle]
        else:
            per_rank = [(self.num_layers + embedding + loss) // self.pipeline] * self.pipeline
        stages = [count // self.num_chunks for count in per_rank] * self.num_chunks
        stages[0] -= embedding
        stages[-1] -= loss
        return stages

    def chunks(self):
        """Of each model chunk of this rank: its layers, whether it has the embedding, whether it has head and loss."""
        stages = self.layers_of_stages()
        for stage in range(self.pipeline_rank, len(stages), self.pipeline):
            first = sum(stages[:stage])
            yield range(first, first + stages[stage]), stage == 0, stage == len(stages) - 1

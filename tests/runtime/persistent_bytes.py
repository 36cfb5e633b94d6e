"""What a rank holds through every step, tensor by tensor: the formulas of reports/METRICS.md, "Persistent bytes"."""
import math

from label_formulas import tensor
from parallel_layout import ParallelLayout
from parameter_shapes import num_moe_layers, parameters_of_chunks

ELEMENT_BYTES = {"bf16": 2, "fp32": 4}


class Pieces:
    """One buffer's parameters as an optimizer sees them: (elements, decays) of each piece."""

    def __init__(self, parameters, group_size, index, sharded):
        begins, end = [], 0
        self.shapes = [parameter.shape for parameter in parameters]
        self.fp32 = parameters[0].fp32
        self.expert = parameters[0].expert
        for shape in reversed(self.shapes):
            begins.append(math.ceil(end / 64) * 64 if sharded else end)
            end = begins[-1] + math.prod(shape)
        self.total = math.ceil(end / math.lcm(group_size, 128)) * math.lcm(group_size, 128) if sharded else end
        first = self.total // group_size * index if sharded else 0
        last = first + self.total // group_size if sharded else end
        spans = [(min(last, begin + math.prod(shape)) - max(first, begin), len(shape) > 1) for begin, shape in zip(begins, reversed(self.shapes))]
        self.pieces = [(count, decays) for count, decays in spans if count > 0]


class PersistentBytes:
    """Of one rank. `late`: made in the first step; `grad_copies`: from the norm to the next zero_grads; `moment_copies`: inside the update."""

    def __init__(self, document, rank):
        fields, options, layout = document["model"]["fields"], document["optimizer"], ParallelLayout(document, rank)
        self.sharded = options["use_distributed_optimizer"]
        chunks = list(parameters_of_chunks(document, layout))
        # A buffer has the parameters of one chunk, kind and type.
        self.buffers = [Pieces(chosen, *((layout.expert_data, layout.expert_data_rank) if expert else (layout.data_context, layout.data_context_rank)),
                               self.sharded)
                        for parameters in chunks for expert in (False, True) for fp32 in (False, True)
                        if (chosen := [parameter for parameter in parameters if parameter.expert == expert and parameter.fp32 == fp32])]
        self.shapes = [shape for buffer in self.buffers for shape in buffer.shapes]
        self.num_experts, self.num_moe_layers = fields.get("num_moe_experts", 0), num_moe_layers(document, layout)
        self.has_expert_bias = fields.get("moe_router_enable_expert_bias", False)
        self.counts_globally = fields.get("moe_router_load_balancing_type") == "global_aux_loss"
        self.grad_bytes = 4 if options["grad_reduce_in_fp32"] else 2
        engine_holds = options["use_precision_aware_optimizer"] and options["fp8_recipe"] in (None, "delayed")
        self.main_bytes = 0 if engine_holds else 4
        self.moment_bytes = [ELEMENT_BYTES[options["exp_avg_dtype"]], ELEMENT_BYTES[options["exp_avg_sq_dtype"]]]
        self.late_main_bytes = 0 if not engine_holds else 2 if options["store_param_remainders"] else 4
        self.copy_bytes = 4 if not engine_holds and self.grad_bytes == 2 else 0
        self.mixed = options["exp_avg_dtype"] != options["exp_avg_sq_dtype"]
        linears = {parameter.shape for parameters in chunks for parameter in parameters if parameter.linear}
        self.fused_shapes = linears if options["gradient_accumulation_fusion"] else set()

    def of_pieces(self, element_bytes, of_fp32_parameters=True):
        """fp32 parameters are their own main weights, and their gradients are fp32."""
        return sum(tensor(count, size=element_bytes) for buffer in self.buffers if of_fp32_parameters or not buffer.fp32 for count, _ in buffer.pieces)

    def num_elements(self):
        return sum(count for buffer in self.buffers for count, _ in buffer.pieces)

    def params(self):
        size = lambda buffer: 4 if buffer.fp32 else 2
        if self.sharded:
            return sum(tensor(buffer.total, size=size(buffer)) for buffer in self.buffers)
        return sum(tensor(*shape, size=size(buffer)) for buffer in self.buffers for shape in buffer.shapes)

    def grads(self):
        return sum(tensor(buffer.total, size=4 if buffer.fp32 else self.grad_bytes) for buffer in self.buffers)

    def main(self):
        return self.of_pieces(self.main_bytes, of_fp32_parameters=False)

    def late(self):
        return sum(self.of_pieces(element_bytes) for element_bytes in self.moment_bytes) + self.of_pieces(self.late_main_bytes, of_fp32_parameters=False)

    def dummies(self):
        return sum(tensor(*shape, size=2) for shape in self.fused_shapes)

    def router_counts(self):
        """Expert bias and the token counts behind it; the global counts of global_aux_loss."""
        one = tensor(self.num_experts, size=4)
        return self.num_moe_layers * one * (2 * self.has_expert_bias + self.counts_globally)

    def built(self):
        """What the first step's backward ends with, but for the sum of losses."""
        return self.params() + self.grads() + self.main() + self.dummies() + self.router_counts()

    def grad_copies(self):
        return self.of_pieces(self.copy_bytes, of_fp32_parameters=False)

    def moment_copies(self):
        """fp32 copies of one bf16 moment, of the largest of Megatron's parameter groups."""
        of_group = lambda expert, decays: sum(tensor(count, size=4) for buffer in self.buffers if buffer.expert == expert
                                              for count, piece_decays in buffer.pieces if piece_decays == decays)
        return max(of_group(expert, decays) for expert in (False, True) for decays in (False, True)) if self.mixed else 0

#pragma once

// What ncu 2025.3 prints, shortened to a few columns.

namespace einkorn::profile::test {

// A column for each metric; a memory-bound kernel, and one that spills. Values with separators.
inline constexpr const char* kRawCsv =
    R"csv(==PROF== Connected to process 4242 (/usr/bin/einkorn)
a line of the program's own
==PROF== Profiling "rms_norm_rows_v1" - 0: 0%....50%....100% - 19 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes.sum.per_second","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum","l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum","launch__registers_per_thread","launch__waves_per_multiprocessor","lts__t_sector_hit_rate.pct","sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active","sm__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","","","","","","","","byte/s","%","ns","byte","byte","register/thread","","%","%","%","%"
"0","4242","einkorn","127.0.0.1","void rms_norm_rows_v1<float, 4>(Params<""x"">)","1","7","(256, 1, 1)","(16384, 1, 1)","0","9.0","4,584,072,595,281.31","91.53","98,784","0","0","32","15.52","51.02","0","34.9","88.12"
"1","4242","einkorn","127.0.0.1","silu_mul_flat_v1","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0","500,000,000,000","12.5","2,048","1,048,576","524,288","255","0.48","99.1","n/a","8.25","11.7"
)csv";

// A line for each metric, as without `--page raw`, with a rule's line.
inline constexpr const char* kDetailsCsv =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"0","1","einkorn","127.0.0.1","gemm","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","GPU Speed Of Light Throughput","DRAM Throughput","%","23.40","","",""
"0","1","einkorn","127.0.0.1","gemm","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","us","1,234.50","","",""
"0","1","einkorn","127.0.0.1","gemm","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","GPU Speed Of Light Throughput","","","","SOLBottleneck","OPT","Compute is
more heavily utilized, see ""tables"""
"0","1","einkorn","127.0.0.1","gemm","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","88.10","","",""
"0","1","einkorn","127.0.0.1","gemm","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","Occupancy","Achieved Occupancy","%","18.75","","",""
)csv";

}  // namespace einkorn::profile::test

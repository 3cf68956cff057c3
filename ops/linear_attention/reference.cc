#include "ops/linear_attention/reference.h"

#include <algorithm>

#include "ops/linear_attention/reference_head.h"
#include "src/core/float.h"
#include "src/cpu/threads.h"

namespace einkorn::linear_attention {

ReferenceHead::ReferenceHead(const PrefillCall& call, std::int64_t sequence, std::int64_t first,
                             std::int64_t head)
    : call_(call),
      sequence_(sequence),
      first_(first),
      head_(head),
      key_dim_(call.key_dim()),
      value_dim_(call.value_dim()),
      q_(token_rows(call.q)),
      k_(token_rows(call.k)),
      v_(token_rows(call.v)),
      g_(token_rows(call.g)),
      beta_(token_rows(call.beta)),
      o_(token_rows(call.o)) {}

Values ReferenceHead::row(const TokenRows& rows, std::int64_t t, std::int64_t head,
                          std::int64_t width) const {
  Values out(static_cast<std::size_t>(width));
  const std::int64_t offset = rows.offset(first_ + t, head);
  cpu::visit_float(rows.dtype, [&](auto type) {
    for (std::int64_t i = 0; i < width; ++i) {
      out[static_cast<std::size_t>(i)] = decltype(type)::load(rows.data, offset + i);
    }
  });
  return out;
}

void ReferenceHead::normalise(Values& values) const {
  if (!call_.l2norm) return;
  double squares = 0;
  for (const double value : values) squares += value * value;
  for (double& value : values) value /= std::sqrt(squares + kNormEps);
}

void ReferenceHead::read_decay(std::int64_t t, Values& decay) const {
  if (!call_.delta) {
    const double value = load_as_double(call_.decay, head_);
    std::ranges::fill(decay, std::exp(log_decay(call_.gate, value, {})));
    return;
  }
  GateTerms terms{.lower_bound = call_.lower_bound};
  if (call_.a_log.defined()) terms.rate = std::exp(load_as_double(call_.a_log, head_));
  const std::int64_t count = call_.channel_gate ? key_dim_ : 1;
  const Values g = row(g_, t, head_, count);
  for (std::int64_t i = 0; i < key_dim_; ++i) {
    const std::int64_t channel = call_.channel_gate ? i : 0;
    if (call_.dt_bias.defined()) {
      terms.bias = load_as_double(call_.dt_bias, head_ * count + channel);
    }
    decay[static_cast<std::size_t>(i)] =
        std::exp(log_decay(call_.gate, g[static_cast<std::size_t>(channel)], terms));
  }
}

HeadToken ReferenceHead::token(std::int64_t t) const {
  const std::int64_t key_head = head_ / (call_.value_heads() / call_.heads());
  HeadToken out{row(q_, t, key_head, key_dim_), row(k_, t, key_head, key_dim_),
                row(v_, t, head_, value_dim_), Values(static_cast<std::size_t>(key_dim_)), 1};
  normalise(out.q);
  normalise(out.k);
  for (double& value : out.q) value *= call_.used_scale();
  read_decay(t, out.decay);
  if (call_.delta) {
    out.beta = beta_of(call_.beta_form, row(beta_, t, head_, 1)[0], call_.negative_eigenvalues);
  }
  return out;
}

void ReferenceHead::write_o(std::int64_t t, const Values& o) const {
  const std::int64_t offset = o_.offset(first_ + t, head_);
  cpu::visit_float(o_.dtype, [&](auto type) {
    for (std::int64_t i = 0; i < value_dim_; ++i) {
      decltype(type)::store(o_.data, offset + i, o[static_cast<std::size_t>(i)]);
    }
  });
}

Values ReferenceHead::initial_state() const {
  Values out(static_cast<std::size_t>(key_dim_ * value_dim_), 0);
  if (!call_.initial_state.defined()) return out;
  const States states = call_.states(call_.initial_state);
  const std::int64_t offset = states.offset(sequence_, head_);
  for (std::int64_t i = 0; i < key_dim_; ++i) {
    for (std::int64_t j = 0; j < value_dim_; ++j) {
      out[static_cast<std::size_t>(i * value_dim_ + j)] = load_as_double(
          call_.initial_state, offset + i * states.key_stride() + j * states.value_stride());
    }
  }
  return out;
}

void ReferenceHead::write_state(const TensorView& tensor, std::int64_t n,
                                const Values& state) const {
  const States states = call_.states(tensor);
  const std::int64_t offset = states.offset(n, head_);
  for (std::int64_t i = 0; i < key_dim_; ++i) {
    for (std::int64_t j = 0; j < value_dim_; ++j) {
      store_from_double(tensor, offset + i * states.key_stride() + j * states.value_stride(),
                        state[static_cast<std::size_t>(i * value_dim_ + j)]);
    }
  }
}

void ReferenceHead::write_final_state(const Values& state) const {
  if (call_.final_state.defined()) write_state(call_.final_state, sequence_, state);
}

void ReferenceHead::write_checkpoint(std::int64_t done, std::int64_t before,
                                     const Values& state) const {
  const std::int64_t every = call_.checkpoint_every;
  if (every == 0 || done % every != 0) return;
  write_state(call_.checkpoints, before + done / every - 1, state);
}

namespace {

/// Calls run(head, length, checkpoints before) for each value head of each sequence, on all
/// threads.
template <class Run>
void for_each_head(const PrefillCall& call, Run&& run) {
  const Sequences sequences = call.sequences();
  const std::int64_t heads = call.value_heads();
  cpu::parallel_for(0, sequences.count() * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / heads;
      const std::int64_t before =
          call.checkpoint_every > 0 ? sequences.blocks_before(sequence, call.checkpoint_every) : 0;
      const ReferenceHead head(call, sequence, sequences.begin(sequence), i % heads);
      run(head, sequences.length(sequence), before);
    }
  });
}

/// out[j] += sum over i of x[i] * matrix[i][j].
void add_product(const Values& x, const Values& matrix, Values& out) {
  const std::size_t cols = out.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double factor = x[i];
    const double* row = matrix.data() + i * cols;
    for (std::size_t j = 0; j < cols; ++j) out[j] += factor * row[j];
  }
}

/// state[i][j] = decay[i] * state[i][j] + k[i] * u[j].
void update(const Values& decay, const Values& k, const Values& u, Values& state) {
  const std::size_t cols = u.size();
  for (std::size_t i = 0; i < k.size(); ++i) {
    double* row = state.data() + i * cols;
    for (std::size_t j = 0; j < cols; ++j) row[j] = decay[i] * row[j] + k[i] * u[j];
  }
}

}  // namespace

void prefill_recurrent(const PrefillCall& call) {
  for_each_head(call, [&](const ReferenceHead& head, std::int64_t length, std::int64_t before) {
    Values state = head.initial_state();
    for (std::int64_t t = 0; t < length; ++t) {
      const HeadToken token = head.token(t);
      Values u = token.v;
      if (call.delta) {
        Values decayed_k = token.k;
        for (std::size_t i = 0; i < decayed_k.size(); ++i) decayed_k[i] *= token.decay[i];
        Values held(u.size(), 0);
        add_product(decayed_k, state, held);
        for (std::size_t j = 0; j < u.size(); ++j) u[j] = token.beta * (u[j] - held[j]);
      }
      update(token.decay, token.k, u, state);
      Values o(u.size(), 0);
      add_product(token.q, state, o);
      head.write_o(t, o);
      head.write_checkpoint(t + 1, before, state);
    }
    head.write_final_state(state);
  });
}

namespace {

/// Elementwise.
Values product(const Values& a, const Values& b) {
  Values out(a);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] *= b[i];
  return out;
}

double dot(const Values& a, const Values& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
}

/// The tokens [0, n) of a chunk against each other. A ratio of decays, that between tokens j and i,
/// is made from j on, by one more factor a token: nothing is divided.
struct Chunk {
  std::vector<HeadToken> tokens;
  std::vector<Values> from_begin;  ///< [n][K]: product of the decays of tokens 0 to i
  std::vector<Values> to_end;      ///< [n][K]: of the tokens behind i
  std::vector<Values> kk;          ///< [n][n]: below the diagonal, beta_i k_i . ratio k_j
  std::vector<Values> qk;          ///< [n][n]: with the diagonal, q_i . ratio k_j

  explicit Chunk(std::vector<HeadToken> all)
      : tokens(std::move(all)), from_begin(tokens.size()), to_end(tokens.size()) {
    kk.resize(tokens.size());
    for (Values& row : kk) row.resize(tokens.size());
    qk = kk;
    Values ratio(tokens[0].decay.size(), 1);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      from_begin[i] = ratio = product(ratio, tokens[i].decay);
    }
    for (std::size_t j = 0; j < tokens.size(); ++j) add_column(j);
  }

 private:
  void add_column(std::size_t j) {
    Values decayed = tokens[j].k;
    qk[j][j] = dot(tokens[j].q, decayed);
    Values ratio(decayed.size(), 1);
    for (std::size_t i = j + 1; i < tokens.size(); ++i) {
      ratio = product(ratio, tokens[i].decay);
      decayed = product(ratio, tokens[j].k);
      kk[i][j] = tokens[i].beta * dot(tokens[i].k, decayed);
      qk[i][j] = dot(tokens[i].q, decayed);
    }
    to_end[j] = ratio;
  }
};

/// The rows u of a chunk: beta (v - k . decayed state), less what the chunk's own earlier tokens
/// have put there, by forward substitution.
std::vector<Values> solve(const Chunk& chunk, bool delta, const Values& state) {
  std::vector<Values> u;
  for (std::size_t i = 0; i < chunk.tokens.size(); ++i) {
    const HeadToken& token = chunk.tokens[i];
    Values row = token.v;
    if (delta) {
      Values held(row.size(), 0);
      add_product(product(token.k, chunk.from_begin[i]), state, held);
      for (std::size_t c = 0; c < row.size(); ++c) row[c] = token.beta * (row[c] - held[c]);
      for (std::size_t j = 0; j < i; ++j) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] -= chunk.kk[i][j] * u[j][c];
      }
    }
    u.push_back(std::move(row));
  }
  return u;
}

}  // namespace

void prefill_chunked(const PrefillCall& call) {
  for_each_head(call, [&](const ReferenceHead& head, std::int64_t length, std::int64_t before) {
    Values state = head.initial_state();
    for (std::int64_t begin = 0; begin < length; begin += kChunk) {
      const std::int64_t end = std::min(begin + kChunk, length);
      std::vector<HeadToken> tokens;
      for (std::int64_t t = begin; t < end; ++t) tokens.push_back(head.token(t));
      const Chunk chunk(std::move(tokens));
      const std::vector<Values> u = solve(chunk, call.delta, state);
      for (std::size_t i = 0; i < u.size(); ++i) {
        Values o(u[i].size(), 0);
        add_product(product(chunk.tokens[i].q, chunk.from_begin[i]), state, o);
        for (std::size_t j = 0; j <= i; ++j) {
          for (std::size_t c = 0; c < o.size(); ++c) o[c] += chunk.qk[i][j] * u[j][c];
        }
        head.write_o(begin + static_cast<std::int64_t>(i), o);
      }
      Values decay = chunk.from_begin.back();
      for (std::size_t i = 0; i < u.size(); ++i) {
        update(i == 0 ? decay : Values(decay.size(), 1),
               product(chunk.tokens[i].k, chunk.to_end[i]), u[i], state);
      }
      head.write_checkpoint(end, before, state);
    }
    head.write_final_state(state);
  });
}

}  // namespace einkorn::linear_attention

// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Tile types.

// expected-error @below {{expects rows of a tile to be at least 1, but got 0}}
func.func private @rows_of_0(!flash.query<0 x 8, f32>)

// -----

// expected-error @below {{expects rows of a tile to be at least 1, but got -4}}
func.func private @negative_rows(!flash.rows<-4, f32>)

// -----

// expected-error @below {{expected an extent of at least 0, but got -8}}
func.func private @negative_head_dim(!flash.query<4 x -8, f32>)

// -----

// expected-error @below {{expects keys of a tile to be at least 1, but got 0}}
func.func private @keys_of_0(!flash.scores<4 x 0, f32>)

// -----

// expected-error @below {{expects a query tile of f16, bf16, f32 or f64, but got 'i32'}}
func.func private @query_of_integers(!flash.query<4 x 8, i32>)

// -----

// expected-error @below {{expects a tile of scores or weights of f16, bf16, f32 or f64, but got 'i16'}}
func.func private @scores_of_i16(!flash.scores<4 x 8, i16>)

// -----

// expected-error @below {{expects a tile of f32 or f64, but got 'f16'}}
func.func private @acc_of_f16(!flash.acc<4 x 8, f16>)

// -----

// expected-error @below {{expects a tile of f32 or f64, but got 'memref<f32>'}}
func.func private @acc_of_memrefs(!flash.acc<4 x ?, memref<f32>>)

// -----

// expected-error @below {{expects a tile of f32 or f64, but got 'index'}}
func.func private @rows_of_index(!flash.rows<4, index>)

// -----

// expected-error @below {{expected integer value}}
// expected-error @below {{failed to parse Flash_RowsType parameter 'rows'}}
func.func private @dynamic_rows(!flash.rows<?, f32>)

// -----

// expected-error @below {{expects rows of a tile to be at most 65536, but got 4611686018427387904}}
func.func private @many_rows(!flash.rows<4611686018427387904, f32>)

// -----

// expected-error @below {{expects keys of a tile to be at most 65536, but got 65537}}
func.func private @many_keys(!flash.scores<4 x 65537, f32>)

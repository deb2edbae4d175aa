// SPDX-License-Identifier: Apache-2.0
export { rustProgram, type RustProgramName } from "./rust-programs.ts";

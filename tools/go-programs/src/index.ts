// SPDX-License-Identifier: Apache-2.0
export { buildGoPrograms, type GoPrograms } from "./build-go-programs.ts";
export { goPrograms, type GoProgramsName } from "./go-programs.ts";
export { missingUpstreamOperator, upstreamOperator, type UpstreamOperator } from "./upstream-operator.ts";

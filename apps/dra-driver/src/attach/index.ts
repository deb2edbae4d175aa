// SPDX-License-Identifier: Apache-2.0
/** The attachment of VFs without Multus, for tests with a real container runtime's side of NRI and real CNI plugins. */
export { createClaimStatus } from "../claims/claim-status.ts";
export { createPluginRunner } from "./run-chain.ts";
export { serveAttachments } from "./serve-attachments.ts";

// SPDX-License-Identifier: Apache-2.0
/** What tests in e2e use of the release commands. */
export { pinImages, type PinOptions } from "./chart/image-digests.ts";
export { buildPlugin, type Plugin, type PluginOptions } from "./krew/plugin.ts";
export { signArtifact } from "./sign/sign-artifact.ts";

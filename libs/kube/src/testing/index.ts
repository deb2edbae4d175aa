// SPDX-License-Identifier: Apache-2.0
/** What tests of other projects use. */
export { TemporaryDirectory } from "./temporary-directory.ts";
export { startTestProxy } from "./test-proxy.ts";
export { parseKubeconfigFields } from "../kubeconfig/kubeconfig-fields.ts";

// SPDX-License-Identifier: Apache-2.0
/** The part of libs/kube that also runs in a browser: it imports nothing of Node.js. */
export { isKubeError, KubeError } from "./http/kube-error.ts";
export { listPages } from "./http/list-pages.ts";
export type { Transport } from "./http/transport.ts";

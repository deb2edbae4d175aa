// SPDX-License-Identifier: Apache-2.0
export { createFakeKernel, type FakeKernel, type Respond } from "./fake-kernel.ts";
export { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "./network-namespace.ts";
export { ack, done, reply } from "./answers.ts";
export { loadForeignXdpProgram } from "./foreign-xdp-program.ts";
export { openXdpSocket, type XdpSocket, type XdpSocketOptions } from "./xdp-socket.ts";

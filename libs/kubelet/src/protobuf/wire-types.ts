// SPDX-License-Identifier: Apache-2.0

/** How a field of a protobuf message is encoded. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { celLiteral } from "./policy-for-users.ts";

// e2e/ovn-offload/rights.test.ts shows that the API server accepts literals of whole objects.
it.each([
  { does: "quotes a text", value: 'a "b"\n', literal: '"a \\"b\\"\\n"' },
  { does: "keeps numbers, booleans and null", value: [420, true, null], literal: "[dyn(420), dyn(true), dyn(null)]" },
  { does: "nests maps", value: { a: { b: [] } }, literal: '{"a": dyn({"b": dyn([])})}' },
])("celLiteral $does", ({ value, literal }) => {
  expect(celLiteral(value)).toBe(literal);
});

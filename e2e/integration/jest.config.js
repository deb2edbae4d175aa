// SPDX-License-Identifier: Apache-2.0
/** The tests of e2e/integration, which start API servers and programs. */
import base from "../../jest.config.js";

export default { ...base, testTimeout: 300_000 };

// SPDX-License-Identifier: Apache-2.0
/** Accidents that other programs of a cluster, and its administrators, cause. */
import { administrators } from "./administrators.ts";
import { playAccidents } from "./play-accidents.ts";
import { thirdParties } from "./third-parties.ts";

playAccidents([...thirdParties, ...administrators]);

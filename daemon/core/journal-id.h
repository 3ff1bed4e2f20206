/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The message IDs of the service's journal records. A test verifies that every message ID has a text in units/drivekeep.catalog. */

#define JOURNAL_ID_STARTED "329da342054d490ab645cd97866f5200"
#define JOURNAL_ID_CONFIGURATION "f9bac741a32d4ac2a814a2946f185f89"
#define JOURNAL_ID_SETTING "bfeee087d7ea498d889aa291f195d105"
#define JOURNAL_ID_VISIT "dab36d85be024cf099bec0dab8ada9e3"
#define JOURNAL_ID_WAITING "64e23f2ee30848f3b06375ef07e2238b"
#define JOURNAL_ID_UNREADY "b7d2f0c64c1e4a5f9d3e8a0172c95be6"
#define JOURNAL_ID_QUARANTINED "ae9c094af85d41fdacccd1c197f048da"
#define JOURNAL_ID_EXCLUDED "5f0d3a6c8b7e4f21a9c4d2e61b3f7a90"
#define JOURNAL_ID_WORKER "c3c71c0bff49407bbba0efade2567b4a"
#define JOURNAL_ID_DRIFT "0f6dfae95df94b2d93f6a56ce1e1d0c3"
#define JOURNAL_ID_SPINDOWN "7c1b0e5d92a84f3c8a6d4b17e3f09c52"
#define JOURNAL_ID_WEAR "3e9a61f0c7d24b5f8d20b6a9e1547c83"
#define JOURNAL_ID_STORM "a6a5b6b9be6a4c43a0a9fd6f1d2a4c11"
#define JOURNAL_ID_ATTACHED "aab5ac3def0c4dd680757cf9b6494de1"
#define JOURNAL_ID_GONE "3096d143ba1946b8bd288c75ea3e2311"
#define JOURNAL_ID_WAKE "b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68"
#define JOURNAL_ID_ACTIVE "d6a04b7e38f14c1c9c5f0a72e91b36d4"

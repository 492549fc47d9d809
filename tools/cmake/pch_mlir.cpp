// Owns the precompiled header of dialect/ and compiler/.

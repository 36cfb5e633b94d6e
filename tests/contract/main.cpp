#include "tests/support/supervising_main.h"

int main(int argc, char** argv) { return rematch::tests::supervising_main(argc, argv); }

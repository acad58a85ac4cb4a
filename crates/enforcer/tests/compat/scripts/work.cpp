#include <future>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

int main()
{
    try {
        throw std::runtime_error("expected");
    } catch (const std::exception &error) {
        std::cout << "caught " << error.what() << '\n';
    }
    std::vector<std::future<int>> parts;
    for (int from = 0; from < 100; from += 25)
        parts.push_back(std::async(std::launch::async, [from] {
            std::vector<int> numbers(25);
            std::iota(numbers.begin(), numbers.end(), from);
            return std::accumulate(numbers.begin(), numbers.end(), 0);
        }));
    int total = 0;
    for (auto &part : parts)
        total += part.get();
    std::cout << "threads " << total << '\n';
}
